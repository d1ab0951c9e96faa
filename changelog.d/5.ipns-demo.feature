`push-gateway demo` plays an iPNS app and its back end: registration, a push, history, reading, settings and polling.
