/// The 36 characters of an apns-id.
typealias ApnsID = InlineArray<36, UInt8>

/// The unanswered requests of one connection, by stream number.
///
/// Stream numbers only grow and few streams are open, so a stream's position is its number modulo the table's size, without hashing. A stream whose position is
/// still occupied is refused; this happens if a client leaves one stream open while it opens thousands of others.
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

    /// Creates a table for `limit` open streams, with eight times that number of positions.
    init(limit: Int) {
        var size = 1_024
        while size < limit * 8 { size *= 2 }
        unsafe places = .allocate(capacity: size)
        unsafe places.initialize(repeating: Place(), count: size)
        mask = size - 1
        self.limit = limit
    }

    deinit { unsafe places.deallocate() }

    /// Stores a request; returns false if the stream must be refused.
    mutating func insert(_ stream: UInt32, _ id: ApnsID) -> Bool {
        let place = Int(stream >> 1) & mask
        guard count < limit, unsafe places[place].stream == 0 else { return false }
        unsafe places[place].stream = stream
        unsafe places[place].id = id
        count += 1
        return true
    }

    /// Removes a request and returns its id; nil if it is unknown.
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
