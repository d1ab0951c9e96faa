import ServiceLifecycle
import UnixSignals

/// Waits for ^C or SIGTERM.
package enum TerminationSignal {
    package static func wait() async {
        for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return }
    }
}
