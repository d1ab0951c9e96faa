import COpenSSL
import Glibc
import Synchronization

/// OpenSSL's memory with a configurable failure of the n-th allocation.
///
/// `CRYPTO_set_mem_functions` works only before OpenSSL's first allocation in a process, which is why this is a separate program.
enum Allocations {
    /// The number of further allocations that succeed.
    private static let left = Atomic<Int>(.max)
    private static let failsOnce = Atomic<Bool>(false)

    /// Installs the functions. Returns false if OpenSSL has already allocated.
    static func take() -> Bool {
        unsafe CRYPTO_set_mem_functions(
            { size, _, _ in Allocations.isAllowed() ? unsafe malloc(size) : nil },
            { block, size, _, _ in Allocations.isAllowed() ? unsafe realloc(block, size) : nil },
            { block, _, _ in unsafe free(block) }
        ) == 1
    }

    /// The next `count` allocations succeed; then one fails, or all do.
    static func allow(_ count: Int, thenFailOnce once: Bool) {
        failsOnce.store(once, ordering: .sequentiallyConsistent)
        left.store(count, ordering: .sequentiallyConsistent)
    }

    /// From now on all allocations succeed. Returns how many were left.
    static func allowAll() -> Int { left.exchange(.max, ordering: .sequentiallyConsistent) }

    private static func isAllowed() -> Bool {
        let before = left.wrappingSubtract(1, ordering: .sequentiallyConsistent).oldValue
        guard before <= 0 else { return true }
        if failsOnce.load(ordering: .sequentiallyConsistent), before < 0 { return true }
        return false
    }
}
