"""What a sentence is: clean it, split a document into sentences, compare two, mask its names, tell its language."""
