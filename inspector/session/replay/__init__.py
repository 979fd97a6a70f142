"""What was recorded, looked back on: captures that are opened, moments, accounts, files."""
