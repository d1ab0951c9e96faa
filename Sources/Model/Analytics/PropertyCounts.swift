/// A property of deliveries by which the event reader counts them. The raw value is that of the database.
package enum CountedProperty: String, Sendable, Hashable, CaseIterable {
    /// The facts that the device's SDK had reported at the hand-over.
    case client
    /// The campaign of the message, and its variant.
    case campaign
    /// The hour of the week of the outcome, in the device's time zone.
    case hour
}

/// A value of a property.
package struct CountedValue: Sendable, Hashable {
    /// client: the number of the version, empty if nothing was reported. campaign: its name. hour: the hour of the week.
    package var name: String
    /// The variant of a campaign; empty: none.
    package var variant: String

    package init(_ name: String, variant: String = "") {
        self.name = name
        self.variant = variant
    }

    /// 1,000 values per app, day and property: a caller names campaigns, and an app its version.
    package static let limit = 1000

    /// The value under which the deliveries with further values are counted.
    package static func other(_ property: CountedProperty) -> CountedValue {
        CountedValue(property == .client ? "0" : "")
    }
}

/// How many deliveries were accepted by the push service, or may have been, and how many the app reported.
package struct ReachCounts: Sendable, Hashable {
    package var reached: Int64
    package var received: Int64
    package var read: Int64

    package init(reached: Int64 = 0, received: Int64 = 0, read: Int64 = 0) {
        self.reached = reached
        self.received = received
        self.read = read
    }

    package static func + (first: ReachCounts, second: ReachCounts) -> ReachCounts {
        ReachCounts(
            reached: first.reached &+ second.reached,
            received: first.received &+ second.received,
            read: first.read &+ second.read
        )
    }
}

/// The counts of one group of an answer.
package struct CountedGroup: Sendable, Hashable {
    /// The properties of the group, in the order of the question; nil: not known.
    package var values: [String?]
    package var counts: ReachCounts

    package init(values: [String?], counts: ReachCounts) {
        self.values = values
        self.counts = counts
    }
}

/// The key of stored counts.
package struct PropertyKey: Sendable, Hashable, Comparable {
    /// The day on which the message was due.
    package var day: EventAdditions.DayKey
    package var property: CountedProperty
    package var value: CountedValue

    package init(day: EventAdditions.DayKey, property: CountedProperty, value: CountedValue) {
        self.day = day
        self.property = property
        self.value = value
    }

    package static func < (first: PropertyKey, second: PropertyKey) -> Bool {
        if first.day != second.day { return (first.day.day, first.day.app) < (second.day.day, second.day.app) }
        return (first.property.rawValue, first.value.name, first.value.variant)
            < (second.property.rawValue, second.value.name, second.value.variant)
    }
}
