internal import CNGHTTP2
internal import Glibc

/// The memory allocator of one nghttp2 session. It keeps freed blocks by size and reuses them, without a lock.
///
/// nghttp2 allocates and frees about ten blocks per request, of the same few sizes, in bursts as long as the stream limit. That is more than the C library's
/// per-thread cache holds, and cost 8 % of a request (measured). Memory that was allocated once is kept until the session ends: about 1 KiB per stream of the
/// highest number that was open at once.
///
/// Created for one session, used on its thread only, freed after the handle.
@safe
final class SessionMemory {
    /// Size classes are 16 bytes apart, up to 1 KiB; larger blocks are rare and come from the C library.
    private static let step = 16
    private static let classCount = 64
    /// The header before each block contains its class, or `large`. Its length is the strictest alignment.
    private static let headerBytes = 16
    private static let large = UInt64.max
    /// Slabs of 32 KiB: the few streams of an idle connection need one slab.
    private static let slabBytes = 32_768

    private let free: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    /// The newest slab; the first bytes of each slab point to the previous one.
    private var slab: UnsafeMutableRawPointer?
    private var slabUsed = slabBytes
    /// How many more allocations succeed. Tests lower it to see each of them fail.
    var allocationsLeft = Int.max
    /// Whether the allocations after the first failed one succeed again.
    var refusesOnce = false
    /// Whether an allocation failed because of `allocationsLeft`.
    private(set) var hasRefused = false

    init() {
        unsafe free = .allocate(capacity: SessionMemory.classCount + 1)
        unsafe free.initialize(repeating: nil, count: SessionMemory.classCount + 1)
    }

    deinit {
        unsafe free.deallocate()
        var next = unsafe slab
        while let this = unsafe next {
            unsafe next = this.load(as: UnsafeMutableRawPointer?.self)
            unsafe Glibc.free(this)
        }
    }

    /// The allocation functions in nghttp2's form. nghttp2 copies the struct, and uses the functions until the session is deleted.
    var functions: nghttp2_mem {
        unsafe nghttp2_mem(
            mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
            malloc: { size, data in unsafe memory(data) { unsafe $0.allocate(size) } },
            free: { block, data in unsafe memory(data) { unsafe $0.release(block) } },
            calloc: { count, size, data in unsafe memory(data) { unsafe $0.allocateZeroed(count, size) } },
            realloc: { block, size, data in unsafe memory(data) { unsafe $0.resize(block, size) } }
        )
    }

    func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        guard allocationsLeft > 0 else {
            hasRefused = true
            if refusesOnce { allocationsLeft = .max }
            return nil
        }
        allocationsLeft -= 1
        guard size >= 0, size <= SessionMemory.classCount * SessionMemory.step else {
            return unsafe allocateLarge(size)
        }
        let place = (size + SessionMemory.step - 1) / SessionMemory.step
        if let block = unsafe free[place] {
            unsafe free[place] = block.load(as: UnsafeMutableRawPointer?.self)
            return unsafe block
        }
        return unsafe carve(max(place, 1))
    }

    func allocateZeroed(_ count: Int, _ size: Int) -> UnsafeMutableRawPointer? {
        let (bytes, isTooMuch) = count.multipliedReportingOverflow(by: size)
        guard !isTooMuch, let block = unsafe allocate(bytes) else { return nil }
        return unsafe memset(block, 0, bytes)
    }

    func resize(_ block: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        guard let block = unsafe block else { return unsafe allocate(size) }
        let place = unsafe header(of: block)
        let room = unsafe place == SessionMemory.large ? header(of: block, word: 1) : place * UInt64(SessionMemory.step)
        guard UInt64(size) > room else { return unsafe block }
        guard let grown = unsafe allocate(size) else { return nil }
        unsafe memcpy(grown, block, Int(room))
        unsafe release(block)
        return unsafe grown
    }

    func release(_ block: UnsafeMutableRawPointer?) {
        guard let block = unsafe block else { return }
        let place = unsafe header(of: block)
        guard place != SessionMemory.large else { return unsafe Glibc.free(block - SessionMemory.headerBytes) }
        unsafe block.storeBytes(of: free[Int(place)], as: UnsafeMutableRawPointer?.self)
        unsafe free[Int(place)] = block
    }

    // MARK: Private

    private func allocateLarge(_ size: Int) -> UnsafeMutableRawPointer? {
        let (bytes, isTooMuch) = size.addingReportingOverflow(SessionMemory.headerBytes)
        guard size >= 0, !isTooMuch, let start = unsafe malloc(bytes) else { return nil }
        unsafe start.storeBytes(of: SessionMemory.large, as: UInt64.self)
        unsafe start.storeBytes(of: UInt64(size), toByteOffset: 8, as: UInt64.self)
        return unsafe start + SessionMemory.headerBytes
    }

    /// A new block at the end of the slab.
    private func carve(_ place: Int) -> UnsafeMutableRawPointer? {
        let length = SessionMemory.headerBytes + place * SessionMemory.step
        if slabUsed + length > SessionMemory.slabBytes {
            guard let fresh = unsafe malloc(SessionMemory.slabBytes) else { return nil }
            unsafe fresh.storeBytes(of: slab, as: UnsafeMutableRawPointer?.self)
            unsafe slab = fresh
            slabUsed = SessionMemory.headerBytes
        }
        guard let slab = unsafe slab else { return nil }
        let start = unsafe slab + slabUsed
        slabUsed += length
        unsafe start.storeBytes(of: UInt64(place), as: UInt64.self)
        return unsafe start + SessionMemory.headerBytes
    }

    private func header(of block: UnsafeMutableRawPointer, word: Int = 0) -> UInt64 {
        unsafe (block - SessionMemory.headerBytes + 8 * word).load(as: UInt64.self)
    }
}

/// Calls `body` with the memory in nghttp2's user data.
private func memory<R>(_ data: UnsafeMutableRawPointer?, _ body: (SessionMemory) -> R?) -> R? {
    guard let data = unsafe data else { return nil }
    return unsafe Unmanaged<SessionMemory>.fromOpaque(data)._withUnsafeGuaranteedRef { body($0) }
}
