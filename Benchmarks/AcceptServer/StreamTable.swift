/// The 36 characters of an apns-id.
typealias ApnsID = InlineArray<36, UInt8>

/// The requests of one connection that are not answered yet, by stream number.
///
/// Stream numbers only grow and few are open, so a stream's place is its number modulo the table's size: no hashing. A stream whose place is
/// still taken (a client that leaves one stream open over thousands of others) is refused.
@safe
struct StreamTable: ~Copyable {
    private struct Place {
        var stream: UInt32 = 0
        var id = ApnsID(repeating: 0)
    }

    private let places: UnsafeMutablePointer<Place>
    private let mask: Int
    private let limit: Int
    /// How many streams are open.
    private(set) var count = 0

    /// Room for `limit` open streams, and eight times the spread.
    init(limit: Int) {
        var size = 1_024
        while size < limit * 8 { size *= 2 }
        unsafe places = .allocate(capacity: size)
        unsafe places.initialize(repeating: Place(), count: size)
        mask = size - 1
        self.limit = limit
    }

    deinit { unsafe places.deallocate() }

    /// Remembers a request; false if the stream must be refused.
    mutating func insert(_ stream: UInt32, _ id: ApnsID) -> Bool {
        let place = Int(stream >> 1) & mask
        guard count < limit, unsafe places[place].stream == 0 else { return false }
        unsafe places[place].stream = stream
        unsafe places[place].id = id
        count += 1
        return true
    }

    /// Forgets a request and gives its id; nil if there is none.
    mutating func remove(_ stream: UInt32) -> ApnsID? {
        let place = Int(stream >> 1) & mask
        guard stream != 0, unsafe places[place].stream == stream else { return nil }
        unsafe places[place].stream = 0
        count -= 1
        return unsafe places[place].id
    }

    /// Whether the stream waits for an answer.
    func contains(_ stream: UInt32) -> Bool {
        unsafe stream != 0 && places[Int(stream >> 1) & mask].stream == stream
    }
}
