/// The compressed input of `GzipInflater`, read as bits from the lowest one of each byte.
struct GzipInput: Sendable {
    /// A place in the input, to which a reader returns when a part is not whole yet.
    struct Place: Sendable {
        fileprivate var at: Int
        fileprivate var hold: UInt64
        fileprivate var count: Int
    }

    private var bytes: [UInt8] = []
    private var at = 0
    /// The bits that were taken from `bytes` and not used yet, and their number. Only bits of the current `bytes` are whole bytes here.
    private var hold: UInt64 = 0
    private(set) var count = 0

    var place: Place {
        get { Place(at: at, hold: hold, count: count) }
        set { (at, hold, count) = (newValue.at, newValue.hold, newValue.count) }
    }

    /// Whether no bit is left.
    var isEmpty: Bool { at == bytes.count && count == 0 }

    /// The whole bytes that are left. To be called after `align`.
    var rest: ArraySlice<UInt8> { bytes[at...] }

    mutating func feed(_ more: [UInt8]) {
        rewind()
        if at == bytes.count {
            bytes = more
        } else {
            bytes.removeFirst(at)
            bytes += more
        }
        at = 0
    }

    /// Returns unused whole bytes to the input.
    private mutating func rewind() {
        at -= count / 8
        count %= 8
        hold &= 1 << UInt64(count) - 1
    }

    /// Skips the rest of the current byte.
    mutating func align() {
        rewind()
        (hold, count) = (0, 0)
    }

    /// Skips whole bytes. To be called after `align`, with at most the number of bytes that are left.
    mutating func skip(_ number: Int) { at = min(at + number, bytes.count) }

    /// Takes whole bytes into `hold` while there is room for them.
    mutating func refill() {
        while count <= 56, at < bytes.count {
            hold |= UInt64(bytes[at]) << UInt64(count)
            at += 1
            count += 8
        }
    }

    /// The next bits without using them; bits after the end of the input are zeros.
    func peek(_ mask: UInt64) -> Int { Int(truncatingIfNeeded: hold & mask) }

    /// Uses bits that were refilled.
    mutating func drop(_ number: Int) {
        hold >>= UInt64(number)
        count -= number
    }

    /// The next `number` bits, at most 16; nil: more input is needed.
    mutating func take(_ number: Int) -> Int? {
        if count < number { refill() }
        guard count >= number else { return nil }
        let value = peek(1 << UInt64(number) - 1)
        drop(number)
        return value
    }
}
