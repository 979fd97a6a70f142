"""Run the program as `python -m inspector.cli`."""

from inspector.cli.main import main

raise SystemExit(main())
