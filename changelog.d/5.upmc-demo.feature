`push-gateway demo` walks UPMC apps of 3.0, 3.5, 3.6, 3.8, 4.0, 4.0EE and 5.1 through registration, a push, receipt, reading, badge and history.
