"""The app in a browser: a server on the loopback address, with a process of the app for each visitor."""
