`push-gateway demo` plays UPMC apps of 3.0, 3.5, 3.6, 3.8, 4.0, 4.0EE and 5.1: registration, a push, receipt, reading, badge and history.
