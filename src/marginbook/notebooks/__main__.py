from .command import run_command

if __name__ == "__main__":
    run_command(prog_name="python -m marginbook.notebooks")
