import COpenSSL
import Glibc
import Synchronization

/// OpenSSL's memory, of which the n-th allocation can be made to fail.
///
/// `CRYPTO_set_mem_functions` works only before OpenSSL's first allocation in a process, which is why this is a program of its own.
enum Allocations {
    /// How many more succeed.
    private static let left = Atomic<Int>(.max)
    private static let failsOnce = Atomic<Bool>(false)

    /// False if OpenSSL has already allocated.
    static func take() -> Bool {
        unsafe CRYPTO_set_mem_functions(
            { size, _, _ in Allocations.isAllowed() ? unsafe malloc(size) : nil },
            { block, size, _, _ in Allocations.isAllowed() ? unsafe realloc(block, size) : nil },
            { block, _, _ in unsafe free(block) }
        ) == 1
    }

    /// So many succeed from now on; then one fails, or all do.
    static func allow(_ count: Int, thenFailOnce once: Bool) {
        failsOnce.store(once, ordering: .sequentiallyConsistent)
        left.store(count, ordering: .sequentiallyConsistent)
    }

    /// All succeed from now on; says how many were left.
    static func allowAll() -> Int { left.exchange(.max, ordering: .sequentiallyConsistent) }

    private static func isAllowed() -> Bool {
        let before = left.wrappingSubtract(1, ordering: .sequentiallyConsistent).oldValue
        guard before <= 0 else { return true }
        if failsOnce.load(ordering: .sequentiallyConsistent), before < 0 { return true }
        return false
    }
}
