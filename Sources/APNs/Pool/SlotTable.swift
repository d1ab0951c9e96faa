/// Which push each request in flight carries, by the id that its completion will bring.
///
/// An id is a place and how often the place has been used, so that an id that comes a second time, or after its pool gave it up, finds
/// nothing instead of somebody else's push.
struct SlotTable {
    /// A push on its way.
    struct Flight {
        var item: FairQueue.Item
        let connection: ConnectionID
        /// Which provider token was the current one when it left.
        var tokenGeneration: UInt32 = 0
    }

    private struct Place {
        var use: UInt32 = 0
        var flight: Flight?
    }

    private let limit: Int
    private var places: [Place] = []
    private var free: [UInt32] = []
    /// How many are on their way.
    private(set) var count = 0

    /// Advises to have at most `limit` at a time, see `room`.
    init(limit: Int) { self.limit = max(1, limit) }

    /// How many more may leave.
    var room: Int { max(0, limit - count) }

    /// Gives a push an id. It is the caller who asks for `room` before.
    mutating func insert(_ flight: consuming Flight) -> UInt64 {
        let place: UInt32
        if let last = free.popLast() {
            place = last
        } else {
            place = UInt32(places.count)
            places.append(Place())
        }
        count += 1
        // 31 bits of use: the HTTP/2 layer keeps ids from 2^63 on for itself.
        places[Int(place)].use = (places[Int(place)].use &+ 1) & 0x7FFF_FFFF
        places[Int(place)].flight = flight
        return UInt64(places[Int(place)].use) << 32 | UInt64(place)
    }

    /// Takes the push of an id out; nil if there is none.
    mutating func remove(_ id: UInt64) -> Flight? {
        let place = Int(id & 0xFFFF_FFFF)
        guard place < places.count, UInt64(places[place].use) == id >> 32 else { return nil }
        // Taken, not copied: a copy would count a reference.
        guard let flight = places[place].flight.take() else { return nil }
        free.append(UInt32(place))
        count -= 1
        return flight
    }

    /// Takes everything out.
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
