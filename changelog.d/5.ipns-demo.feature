`push-gateway demo` walks an iPNS app and its back end through registration, a push, history, reading, settings and polling.
