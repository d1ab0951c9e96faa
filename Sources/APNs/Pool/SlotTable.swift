/// The push of each request in flight, by the id that its completion contains.
///
/// An id consists of a position and the number of times that the position was used. An id that arrives a second time, or after its pool gave it up, therefore
/// finds nothing instead of another push.
struct SlotTable {
    /// A push in flight.
    struct Flight {
        var item: FairQueue.Item
        let connection: ConnectionID
        /// The provider token that was current when the push was sent.
        var tokenGeneration: UInt32 = 0
    }

    private struct Place {
        var use: UInt32 = 0
        var flight: Flight?
    }

    private let limit: Int
    private var places: [Place] = []
    private var free: [UInt32] = []
    /// How many pushes are in flight.
    private(set) var count = 0

    /// Creates a table; `room` advises callers to keep at most `limit` in flight.
    init(limit: Int) { self.limit = max(1, limit) }

    /// How many more pushes may be sent.
    var room: Int { max(0, limit - count) }

    /// Assigns an id to a push. The caller must check `room` before.
    mutating func insert(_ flight: consuming Flight) -> UInt64 {
        let place: UInt32
        if let last = free.popLast() {
            place = last
        } else {
            place = UInt32(places.count)
            places.append(Place())
        }
        count += 1
        // 31 bits for the use count, because the HTTP/2 layer reserves ids from 2^63 on.
        places[Int(place)].use = (places[Int(place)].use &+ 1) & 0x7FFF_FFFF
        places[Int(place)].flight = flight
        return UInt64(places[Int(place)].use) << 32 | UInt64(place)
    }

    /// Removes and returns the push of an id; nil if the id is unknown.
    mutating func remove(_ id: UInt64) -> Flight? {
        let place = Int(id & 0xFFFF_FFFF)
        guard place < places.count, UInt64(places[place].use) == id >> 32 else { return nil }
        // Taken instead of copied: a copy would count a reference.
        guard let flight = places[place].flight.take() else { return nil }
        free.append(UInt32(place))
        count -= 1
        return flight
    }

    /// Removes and returns all pushes.
    mutating func removeAll() -> [Flight] {
        let flights = places.compactMap(\.flight)
        for place in places.indices where places[place].flight != nil {
            places[place].flight = nil
            free.append(UInt32(place))
        }
        count = 0
        return flights
    }
}
