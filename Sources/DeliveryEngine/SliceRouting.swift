package import Model
package import Routing

/// How the targets of a slice find their paths.
package enum SliceRouting: Sendable {
    /// By the app's credentials: the app has no rules for deliveries.
    case direct
    case rules(RoutedSlice)
    /// By rules that this program does not know. Nothing is sent, because either side could push.
    case unread
}

/// The rules of a slice, with what they need.
package struct RoutedSlice: Sendable {
    package var table: RouteTable
    /// The fields of the upstreams that the rules name, as far as this node can call them. Contains secrets.
    package var upstreams: [CredentialID: UpstreamSettings]
    /// The tags of the targets that the rules name, by place.
    package var tags: [Int: Set<String>]
    /// Calls under earlier leases whose outcomes nobody has recorded. Their targets may have got the message.
    package var interrupted: [InterruptedCall]
    /// The targets whose users a call of the message has, by place, and whether it is answered.
    package var called: [Int: Bool]

    package init(
        table: RouteTable,
        upstreams: [CredentialID: UpstreamSettings] = [:],
        tags: [Int: Set<String>] = [:],
        interrupted: [InterruptedCall] = [],
        called: [Int: Bool] = [:]
    ) {
        self.table = table
        self.upstreams = upstreams
        self.tags = tags
        self.interrupted = interrupted
        self.called = called
    }
}

/// A call to an upstream that was recorded, and about whose end nothing is known.
package struct InterruptedCall: Sendable, Hashable {
    package var id: UpstreamCallID
    package var upstream: CredentialID
    package var targets: Set<TargetID>

    package init(id: UpstreamCallID, upstream: CredentialID, targets: Set<TargetID>) {
        self.id = id
        self.upstream = upstream
        self.targets = targets
    }
}

/// The stored facts about the routing of a slice.
package enum StoredRouting: Sendable, Hashable {
    /// The app has no rules, or had none when the slice was begun.
    case none
    /// As `none`, where calls of other slices have asked these upstreams to reach users.
    case unruled(callers: [CredentialID])
    /// `callers`: the upstreams that calls of the message have asked to reach users, whichever slices made them.
    case rules(StoredRules, interrupted: [InterruptedCall], callers: [CredentialID] = [])
    /// Another node holds the slice.
    case fenced
}

/// The part of an upstream's users that a target stands for, where the upstream pushes to all devices of a user. The message has one call for each.
package struct UpstreamUnit: Sendable, Hashable {
    package var user: UserID
    /// Nil: the upstream's send cannot be limited to one platform.
    package var platform: Platform?

    package init(user: UserID, platform: Platform?) {
        self.user = user
        self.platform = platform
    }

    /// The unit of a target. A device without a user stands for itself.
    init(_ facts: TargetFacts?, platform: Platform?) {
        user = facts?.person.user ?? UserID(facts?.key.rawValue ?? "")
        self.platform = platform
    }
}

/// A user whom an upstream may have been asked to reach, for the target at a place of a slice.
package struct CalledUser: Sendable, Hashable {
    package var place: Int
    package var upstream: CredentialID
    package var unit: UpstreamUnit

    package init(place: Int, upstream: CredentialID, unit: UpstreamUnit) {
        self.place = place
        self.upstream = upstream
        self.unit = unit
    }
}

/// A call to an upstream that is to be recorded, and then made.
package struct UpstreamOrder: Sendable {
    package var id: UpstreamCallID
    package var upstream: CredentialID
    package var call: UpstreamCall
    /// In the order of the call's targets.
    package var targets: [TargetID]
    /// Parallel to `targets`; empty if the upstream addresses devices.
    package var units: [UpstreamUnit]
    /// The targets whose users must have no other device that may get the message: the push service was the path before.
    package var exclusive: Set<TargetID>
    /// Earlier tries of the same call, no byte of which has left.
    package var replaced: [UpstreamCallID]

    package init(
        id: UpstreamCallID,
        upstream: CredentialID,
        call: UpstreamCall,
        targets: [TargetID],
        units: [UpstreamUnit] = [],
        exclusive: Set<TargetID> = [],
        replaced: [UpstreamCallID] = []
    ) {
        self.id = id
        self.upstream = upstream
        self.call = call
        self.targets = targets
        self.units = units
        self.exclusive = exclusive
        self.replaced = replaced
    }
}

/// The answer of the store to an order.
package enum UpstreamStart: Sendable, Hashable {
    /// The call is recorded and may be made.
    case begun
    /// Nothing is recorded. The users of some targets have the message by another call or path, other devices of users may get the message (`withheld`), or
    /// a call without an end has the users (`busy`).
    case taken(Set<TargetID>, withheld: Set<TargetID>, busy: Set<TargetID> = [])
    /// Another node holds the slice.
    case fenced
}

/// The end of an order.
package enum UpstreamEnd: Sendable, Hashable {
    /// The upstream answered or did not.
    case ended(UpstreamResult)
    /// No call was made, because it is unknown whether it was recorded. The store may still write the record.
    case unrecorded
    /// No call was made, as `UpstreamStart.taken` says.
    case taken(Set<TargetID>, withheld: Set<TargetID>, busy: Set<TargetID> = [])
}

/// The end of a recorded call. It is written with the outcomes of its targets.
package struct UpstreamCallEnd: Sendable, Hashable {
    package var id: UpstreamCallID
    /// The vendor's name of the message.
    package var reference: String?
    /// Whether no target can have got the message: the record is removed, so that a later call may have the same users.
    package var isVoid: Bool

    package init(id: UpstreamCallID, reference: String? = nil, isVoid: Bool = false) {
        self.id = id
        self.reference = reference
        self.isVoid = isVoid
    }
}
