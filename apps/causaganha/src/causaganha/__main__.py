"""`python -m causaganha`."""

from causaganha.cli import main

if __name__ == "__main__":
    main()
