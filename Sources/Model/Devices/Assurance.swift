/// How well the user and the phone of an identity are known to be right.
package enum Assurance: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Claimed while another device has the user or the phone, in a binding that requires a confirmation of such moves (`UserMoves.vouch`). Nothing is sent
    /// to it.
    case pending
    /// The app states them.
    case claimed
    /// The device answered a push to its token.
    case possession
    /// The tenant's back end confirmed the user.
    case vouched

    /// The levels that a message can require.
    package static let required: [Assurance] = [.claimed, .possession, .vouched]

    /// The stored form, in ascending order: -1 to 2.
    package var rank: Int16 {
        switch self {
        case .pending: -1
        case .claimed: 0
        case .possession: 1
        case .vouched: 2
        }
    }

    /// The level with this stored form; an unknown one proves nothing.
    package init(rank: Int) { self = Self.allCases.first { Int($0.rank) == rank } ?? .pending }

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// The levels that an app's messages need, from the provisioning file.
package struct AssuranceRules: Sendable, Hashable {
    /// The least level of a message that does not name one.
    package var minimum: Assurance
    /// The same for messages of a lane; other lanes have `minimum`.
    package var lanes: [Lane: Assurance]
    /// Whether a message to a user, phone or group also reaches the identities below the highest level of the user.
    package var isMixed: Bool

    package init(minimum: Assurance = .claimed, lanes: [Lane: Assurance] = [:], isMixed: Bool = false) {
        self.minimum = minimum
        self.lanes = lanes
        self.isMixed = isMixed
    }

    package static let none = AssuranceRules()

    /// The least level of a message of `lane` that does not name one.
    package func minimum(for lane: Lane) -> Assurance { lanes[lane] ?? minimum }
}

/// The treatment of an identity that claims a user or phone that another identity has.
package enum UserMoves: String, Sendable, Hashable, CaseIterable {
    /// The claim is accepted.
    case allow
    /// The claim is accepted, and an event reports it.
    case notify
    /// An event reports it, and nothing is sent to the identity until the back end vouches for it.
    case vouch
}

/// The settings of a binding about users of its devices.
package struct IdentitySettings: Sendable, Hashable {
    package static let historyKey = "historyScope"
    package static let movesKey = "userMoves"

    /// Whether a device with a claimed user reads the messages that the user got before the device registered.
    package var showsWholeHistory: Bool
    package var moves: UserMoves

    /// Reads the settings of a binding; an invalid value opens nothing.
    package init(_ binding: BindingSettings) {
        showsWholeHistory = binding.values[Self.historyKey] == "all"
        moves = binding.values[Self.movesKey]?.string.flatMap(UserMoves.init) ?? .notify
    }

    /// The setting of vendors whose devices have users or phones.
    package static let userMoves = VendorSetting(
        movesKey,
        default: "notify",
        "A device that claims a user or phone of another device: allow, notify (an event reports it), or vouch (it gets nothing until the back end vouches)."
    ) { $0.string.flatMap(UserMoves.init) != nil }
    .risky(
        .medium,
        "A device takes over the user or phone of another one, and nothing reports it.",
        remedy: "Set it to notify, or to vouch if the back end confirms users.",
        when: { $0?.string == UserMoves.allow.rawValue }
    )

    /// The setting of vendors whose devices read messages of their user.
    package static let historyScope = VendorSetting(
        historyKey,
        default: "sinceRegistration",
        "The messages that a device with a claimed user may read: sinceRegistration (those since it has the user) or all."
    ) { $0 == "sinceRegistration" || $0 == "all" }
    .risky(
        .high,
        "Anyone with a copy of the app can name another user and read all messages to that user.",
        remedy: "Remove it: a device then reads the messages since it has the user.",
        when: { $0 == "all" }
    )
    .refusing("messages to a claimed user from before the device had it")
}
