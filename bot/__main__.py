"""`python -m bot`: the same as the command `seconder`."""

from bot.cli import main

if __name__ == "__main__":
    main()
