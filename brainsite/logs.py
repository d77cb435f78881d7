"""One JSON line an event: what happened, to which id, for which request. Never a memory's words, never a key."""

import logging
import re

import structlog

KEY = re.compile(r"brk_(person|agent|context|intent)_[A-Za-z0-9]+_[A-Za-z0-9]+")

structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)


def json_formatter() -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
    )


class RedactKeys(logging.Filter):
    """The last line of defence: a key that reaches a log message is replaced."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, str) and not record.args:
            record.msg = KEY.sub("brk_[redacted]", record.msg)
        elif isinstance(record.msg, str):
            record.msg, record.args = KEY.sub("brk_[redacted]", record.getMessage()), None
        return True
