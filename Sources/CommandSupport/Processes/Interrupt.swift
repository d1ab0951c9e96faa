import ServiceLifecycle
import UnixSignals

/// Waits for ^C or SIGTERM.
enum Interrupt {
    static func wait() async {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }
}
