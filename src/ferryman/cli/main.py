"""The command tree. Each command's module is imported when it is called, so `--help` is quick."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

# name → module with a Typer `app`, and the line that `ferryman --help` shows
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "work": ("ferryman.cli.work", "Run the jobs of an app until told to stop."),
    "serve": ("ferryman.cli.serve", "Serve the API over HTTP."),
    "push": ("ferryman.cli.push", "Hand over a job by its task's name."),
    "status": ("ferryman.cli.status", "Show queues and workers."),
    "top": ("ferryman.cli.top", "Watch queues, workers and failures as they change."),
    "jobs": ("ferryman.cli.jobs", "List, show, retry, cancel, pause, resume, delete jobs."),
    "queues": ("ferryman.cli.queues", "List, pause, resume, purge queues."),
    "runs": ("ferryman.cli.runs", "List, show, cancel, pause, resume, retry runs of pipelines."),
    "schedules": ("ferryman.cli.schedules", "List, pause, resume, run schedules."),
    "workers": ("ferryman.cli.workers", "Show the workers of a store."),
    "breakers": ("ferryman.cli.breakers", "List and reset breakers."),
    "rates": ("ferryman.cli.rates", "Show what is left of rates and concurrency."),
    "keys": ("ferryman.cli.api_keys", "Create, list, revoke API keys."),
    "migrate": ("ferryman.cli.migrate", "Make a store or bring it up to date, or print the SQL."),
    "prune": ("ferryman.cli.prune", "Delete finished jobs that ended long ago."),
    "move": ("ferryman.cli.move", "Move jobs to another store."),
    "export": ("ferryman.cli.exporting", "Copy jobs into a folder of readable files."),
    "import": ("ferryman.cli.importing", "Copy jobs from a folder into a store."),
    "sync": ("ferryman.cli.sync", "Keep this machine's mirror of an s3:// store up to date."),
    "doctor": ("ferryman.cli.doctor", "Examine the store, its workers and its disk."),
    "report": ("ferryman.cli.report", "Print the state of the store as an HTML page."),
    "config": ("ferryman.cli.config", "Show settings and who set them."),
    "demo": ("ferryman.cli.demo", "See retries, a killed worker, and that nothing is lost."),
}


class Commands(TyperGroup):
    """Knows its commands by name and line of help, and turns their errors into exit codes."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self._by_name_only = False
        self._words: list[str] = []
        for name, (_, line) in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=line)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        if self._by_name_only:
            return self.commands[cmd_name]
        return get_command(import_module(COMMANDS[cmd_name][0]).app)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        # A shell waits for this at every Tab: names and lines are enough, no command is imported.
        self._by_name_only = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._by_name_only = False

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def make_context(self, info_name: Any, args: list[str], *more: Any, **extra: Any) -> Any:
        self._words = list(args)
        try:
            return super().make_context(info_name, args, *more, **extra)
        except typer.TyperException as error:
            _hide_passwords(error, self._words)
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            _hide_passwords(error, self._words)
            raise
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            raise typer.Exit(_explained(error, self._words)) from error


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        # None: coloured where the stream is a terminal.
        "color": False if os.environ.get("NO_COLOR") else None,
    },
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        sys.stdout.write(f"ferryman {version('ferryman')}\n")
        raise typer.Exit


@app.callback()
def ferryman(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show it and exit."),
    ] = False,
) -> None:
    """One job queue and pipeline engine: the same code and the same promises on every store."""


def main() -> None:
    """The entry point of the `ferryman` script."""
    for stream in (sys.stdout, sys.stderr):
        # A job may hold characters that this terminal's encoding lacks.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    app(prog_name="ferryman")


def _hide_passwords(error: typer.TyperException, words: list[str]) -> None:
    # A usage error repeats the words that it does not understand, and one may be a store's URL.
    if any("://" in word for word in words):
        from ferryman.cli.failures import without_passwords

        error.message = without_passwords(error.message, words)


def _explained(error: Exception, words: list[str]) -> int:
    from ferryman.cli.failures import debugging, report

    if debugging():
        raise error
    return report(error, words)


if __name__ == "__main__":
    main()
