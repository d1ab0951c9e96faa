import Glibc

/// Starts threads for C functions that block. libpq must never block a thread of the cooperative pool.
enum NativeThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts `body` on a new detached thread. Returns false when the system cannot create a thread; `body` then never runs.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        // Released by the first line of the thread, or by the guard below when no thread was created.
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
