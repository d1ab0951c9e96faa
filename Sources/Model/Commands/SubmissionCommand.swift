/// Sending, and what belongs to it.
package enum SubmissionCommand: Sendable, Hashable {
    case submit(Submission)
    case control(MessageControl, message: String)
}

/// What may be done to a message that is not done.
package enum MessageControl: String, Sendable, Hashable, CaseIterable {
    /// What is not sent is written off as canceled.
    case cancel
    /// Nothing more is sent until `resume`, or it expires. What is on its way ends.
    case pause
    case resume
    /// Parts that gave up are tried anew.
    case requeue
}

/// What a caller wants sent.
package struct Submission: Sendable, Hashable {
    /// Who sends, where the vendor names it; it must then be enrolled.
    package var sender: SenderID?
    package var content: Content
    /// The vendor's stored template that fills the body, with its arguments.
    package var template: TemplateReference?
    package var audience: Audience
    /// Nil: now.
    package var dueAt: Timestamp?
    /// How long after it is due it may still be delivered; nil: the app's default.
    package var timeToLive: Duration?
    package var collapseID: String?
    package var lane: Lane
    /// An image that came inside the call.
    package var image: InlineImage?
    /// What the vendor's fallback is asked to do, in the adapter's own words; stored, not interpreted here.
    package var fallback: JSON?
    /// The caller's own repeat key, at most 128 bytes.
    package var idempotencyKey: String?
    /// SHA-256 of the request body is compared on a repeat; the gateway fills it in.
    package var bodyHash: String?

    package init(
        sender: SenderID? = nil,
        content: Content,
        template: TemplateReference? = nil,
        audience: Audience,
        dueAt: Timestamp? = nil,
        timeToLive: Duration? = nil,
        collapseID: String? = nil,
        lane: Lane = .bulk,
        image: InlineImage? = nil,
        fallback: JSON? = nil,
        idempotencyKey: String? = nil,
        bodyHash: String? = nil
    ) {
        self.sender = sender
        self.content = content
        self.template = template
        self.audience = audience
        self.dueAt = dueAt
        self.timeToLive = timeToLive
        self.collapseID = collapseID
        self.lane = lane
        self.image = image
        self.fallback = fallback
        self.idempotencyKey = idempotencyKey
        self.bodyHash = bodyHash
    }
}

/// To whom.
package enum Audience: Sendable, Hashable {
    /// At most `Audience.listedLimit`; each is one target, also when nobody answers to it.
    case listed([Addressee])
    /// Every active identity of each user, so that a user hears of it on each device. At most `Audience.listedLimit`; a user without any is one
    /// target too, while they are counted at once.
    case users([UserID])
    /// Every active identity of each member, of each user once. At most `Audience.groupLimit`.
    case groups([GroupName])
    /// Every active identity whose tags the expression means.
    case tags(TagExpression)
    /// Every active identity of the app in the caller's dialect.
    case everyone

    /// 2,000 addressees in one call: they are resolved and counted in the accepting transaction, which must stay short.
    package static let listedLimit = 2000
    /// 50 groups in one call: each page of the expansion walks along all of them.
    package static let groupLimit = 50
}

/// One entry of a list.
package struct Addressee: Sendable, Hashable {
    package var address: Address
    /// A display name that the caller knows it by.
    package var name: String?

    package init(_ address: Address, name: String? = nil) {
        self.address = address
        self.name = name
    }
}

/// A stored template and its arguments.
package struct TemplateReference: Sendable, Hashable {
    package var id: String
    package var arguments: JSON?

    package init(id: String, arguments: JSON? = nil) {
        self.id = id
        self.arguments = arguments
    }
}

/// An image inside a call, already decoded.
package struct InlineImage: Sendable, Hashable {
    package var name: String?
    package var bytes: [UInt8]
    /// The size the caller states, in bytes; a difference is logged, not refused.
    package var statedSize: Int?

    package init(name: String?, bytes: [UInt8], statedSize: Int? = nil) {
        self.name = name
        self.bytes = bytes
        self.statedSize = statedSize
    }
}

/// What came of a submission.
package enum SubmissionReply: Sendable, Hashable {
    /// Committed. `recipients` is nil while an audience is still being expanded.
    case accepted(MessageID, recipients: Int?)
    /// Whether the control changed anything.
    case controlled(Bool)
}
