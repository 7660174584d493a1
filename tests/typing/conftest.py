"""The programs here are for type checkers; collecting them would run them, the wrong ones too."""

collect_ignore_glob = ["right/*", "wrong/*"]
