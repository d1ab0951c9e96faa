/// Sending, and what belongs to it.
package enum SubmissionCommand: Sendable, Hashable {
    indirect case submit(Submission)
    case control(MessageControl, message: String)
    /// What became of a message of the caller's dialect.
    case report(message: MessageID)
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
    package var timing: SubmissionTiming
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
    /// How an audience of users names them.
    package var naming = UserNaming.users
    /// Addressees whom nobody answers for are no targets: the reply names them, and one without any target is refused. Only for lists and users.
    package var omitsUnknown = false
    /// Where the vendor numbers its messages; nil: it does not.
    package var numbering: Numbering?
    /// What fills the template for single users. This, labels and schedule go without a repeat key.
    package var variables: [UserVariables] = []
    /// By what it is counted together with others.
    package var labels: [String] = []
    /// It may be changed until it is due.
    package var schedule: ScheduleDraft?

    package init(
        sender: SenderID? = nil,
        content: Content,
        template: TemplateReference? = nil,
        audience: Audience,
        timing: SubmissionTiming = SubmissionTiming(),
        collapseID: String? = nil,
        lane: Lane = .bulk,
        image: InlineImage? = nil,
        fallback: JSON? = nil,
        idempotencyKey: String? = nil,
        numbering: Numbering? = nil
    ) {
        self.sender = sender
        self.content = content
        self.template = template
        self.audience = audience
        self.timing = timing
        self.collapseID = collapseID
        self.lane = lane
        self.image = image
        self.fallback = fallback
        self.idempotencyKey = idempotencyKey
        self.numbering = numbering
    }
}

/// When a message is due, and for how long it can be delivered.
package struct SubmissionTiming: Sendable, Hashable {
    /// Nil: now.
    package var dueAt: Timestamp?
    /// The same in each device's own zone; then `dueAt` is nil.
    package var localDue: LocalTime?
    /// How long after it is due it may still be delivered; nil: the app's default.
    package var timeToLive: Duration?

    package init(dueAt: Timestamp? = nil, localDue: LocalTime? = nil, timeToLive: Duration? = nil) {
        self.dueAt = dueAt
        self.localDue = localDue
        self.timeToLive = timeToLive
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

/// What came of a submission.
package enum SubmissionReply: Sendable, Hashable {
    /// Committed. `recipients` is nil while an audience is still being expanded.
    case accepted(MessageID, recipients: Int?)
    /// The same of a submission with `numbering`.
    case numbered(NumberedAcceptance)
    /// Whether the control changed anything.
    case controlled(Bool)
    /// Committed, where the call's dialect numbers messages or unknown addressees are omitted.
    case addressed(AddressedSubmission)
    indirect case report(MessageReport)
}

/// What is told of a submission beyond its id.
package struct AddressedSubmission: Sendable, Hashable {
    package var message: MessageID
    /// The message's number in the call's dialect; nil: it has none.
    package var number: String?
    package var recipients: Int?
    /// How many of those that were named are targets, each with any number of devices; nil where nobody was named.
    package var addressees: Int?
    /// Who was named and is not a target, in the caller's order.
    package var unknown: [Address]

    package init(
        message: MessageID,
        number: String?,
        recipients: Int?,
        addressees: Int? = nil,
        unknown: [Address] = []
    ) {
        self.message = message
        self.number = number
        self.recipients = recipients
        self.addressees = addressees
        self.unknown = unknown
    }
}
