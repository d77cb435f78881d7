"""Why the product cannot start, in words for the person at the terminal."""

CONFIG = 78  # EX_CONFIG of sysexits.h: nothing is broken, something has to be arranged first


class StartError(Exception):
    """The message says what to do; `status` becomes the exit status."""

    status = CONFIG


class AlreadyRunningError(StartError):
    status = 1


class ProgramError(StartError):
    """A program that is not ours said no; the message holds its own words."""

    status = 1
