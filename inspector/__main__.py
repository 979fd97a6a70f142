"""Run the program as `python -m inspector`."""

from inspector.cli.main import main

raise SystemExit(main())
