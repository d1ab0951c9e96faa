import Dispatch
import Foundation

/// Lets a task wait for SIGTERM or SIGINT. Create it before anything else, so that an early signal is not lost.
final class StopSignals {
    private let arrivals: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    init() {
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.arrivals = arrivals
        sources = [SIGTERM, SIGINT].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { arrived.yield() }
            source.activate()
            return source
        }
    }

    /// Waits for the first signal.
    func first() async {
        for await _ in arrivals { return }
    }
}
