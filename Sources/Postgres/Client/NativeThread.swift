import Glibc

/// A thread of our own, for C that blocks: libpq must never hold a thread of the cooperative pool.
enum NativeThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts `body` on a new detached thread. False when the system has no thread to give; `body` then never runs.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // Released by the thread's first line; by the guard below when no thread came to be.
        let retained = unsafe Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { raw in
                guard let raw = unsafe raw else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(raw).takeRetainedValue().run()
                return nil
            },
            retained.toOpaque()
        )
        guard result == 0 else {
            unsafe retained.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
