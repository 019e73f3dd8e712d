"""`python -m restyle` is the command `restyle`."""

from restyle.cli import main

if __name__ == "__main__":
    main()
