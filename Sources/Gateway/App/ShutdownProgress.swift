import NIOConcurrencyHelpers

/// How far the end of the process has come. `/readyz` shows it, and the services that wait for something watch it.
final class ShutdownProgress: Sendable {
    enum Stage: Int, Sendable, Comparable {
        case running
        /// Nothing new begins; work in progress ends.
        case draining
        /// Nothing is awaited any longer.
        case hurried

        static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    private let current = NIOLockedValueBox(Stage.running)
    private let hurries: AsyncStream<Void>
    private let hurrying: AsyncStream<Void>.Continuation

    init() {
        (hurries, hurrying) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    var stage: Stage { current.withLockedValue(\.self) }

    /// Enters a later stage.
    func enter(_ stage: Stage) {
        current.withLockedValue { $0 = max($0, stage) }
        if stage == .hurried { hurrying.finish() }
    }

    /// Returns when nothing may be awaited any longer, or on cancellation. For one caller.
    func hurried() async { for await _ in hurries {} }
}
