import NIOConcurrencyHelpers

/// The permit for one of a limited number of streams, calls or bodies. It is released once: when its holder releases it, at the latest when nothing refers to
/// it.
package final class HeldPermit: Sendable {
    private let onRelease: NIOLockedValueBox<(@Sendable () -> Void)?>

    package init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = NIOLockedValueBox(onRelease) }

    package func release() {
        let onRelease = onRelease.withLockedValue { box in
            defer { box = nil }
            return box
        }
        onRelease?()
    }

    deinit { release() }
}
