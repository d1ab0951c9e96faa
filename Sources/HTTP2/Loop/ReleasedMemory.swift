internal import CLinuxEvents

/// The memory that the process has released and its allocator keeps.
package enum ReleasedMemory {
    /// 1 MiB: the memory of larger blocks, such as a large body and what is parsed from it, goes back to the system when it is released.
    private static let blockBytes: Int32 = 1 << 20
    /// 4 MiB stay at the end of each of the allocator's areas, so that the usual load does not ask the system again and again.
    private static let keptBytes: Int32 = 4 << 20

    /// Lets the allocator return large blocks to the system. By default glibc raises its two limits, up to 32 and 64 MiB, once a large block was released,
    /// and the area of each thread may keep as much from then on.
    ///
    /// Call it once, at the start of the process.
    package static func limit() {
        // The results only say whether the allocator knows the parameters. Without them the process keeps more memory.
        _ = mallopt(M_MMAP_THRESHOLD, blockBytes)
        _ = mallopt(M_TRIM_THRESHOLD, keptBytes)
    }
}
