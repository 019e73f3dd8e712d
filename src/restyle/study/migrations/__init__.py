"""The steps that bring a study's store to the tables of this version."""
