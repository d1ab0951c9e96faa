import Model
import Store

/// The rules for submissions: all checks that are possible without the store.
enum SubmissionRules {
    /// The plans of submission commands that need a single step.
    static func plan(_ command: SubmissionCommand, _ context: RuleContext) -> Plan {
        switch command {
        case .control(let control, let text):
            guard let message = MessageID(text: text) else { return .refused(.unknownMessage) }
            return ControlRules.control(control, message, context.scope, by: context.call.actor).map {
                .submission(.controlled($0))
            }
        case .report(let message):
            return Plan(FindReport(context.scope, message)) { report in
                report.map { .submission(.report($0)) } ?? .refused(.unknownMessage)
            }
        case .submit: return .refused(.unsupported("submit"))
        case .observe: return .refused(.unsupported("observe"))
        }
    }

    /// The plan of an acceptable submission.
    static func check(_ submission: Submission, _ context: RuleContext) -> Result<SubmissionPlan, Refused> {
        if let refusal = refusal(of: submission, context) { return .failure(Refused(refusal)) }
        var content = submission.content
        var image: SubmissionPlan.Image?
        if let inline = submission.image {
            guard inline.bytes.count <= CommandLimits.imageBytes, let kind = ImageKind(sniffing: inline.bytes) else {
                return .failure(Refused(.invalid("image")))
            }
            let hash = context.identifiers.sha256(inline.bytes)
            image = SubmissionPlan.Image(hash: hash, contentType: kind.rawValue, bytes: inline.bytes)
            content.media = MediaReference(id: context.identifiers.randomHex(byteCount: 16), hash: hash)
        } else if let media = content.media, media.id.isEmpty {
            // The image was stored before and is named by its hash. The push gets a separate id, because the hash can be guessed from the image.
            content.media = MediaReference(id: context.identifiers.randomHex(byteCount: 16), hash: media.hash)
        }
        let dueAt = submission.timing.dueAt ?? max(context.now, submission.timing.localDue?.earliest ?? context.now)
        if let draft = submission.numbering?.page {
            content.page = PageReference(id: context.identifiers.randomHex(byteCount: 16), name: draft.name)
        }
        return .success(
            SubmissionPlan(
                submission: submission,
                content: content,
                image: image,
                // The id contains the due time: ids are in the order in which devices receive messages, and an id determines its partition.
                id: MessageID(rawValue: context.identifiers.uuid(at: dueAt)),
                dueAt: dueAt,
                timeToLive: timeToLive(of: submission, context),
                context: context
            )
        )
    }

    private static func refusal(of submission: Submission, _ context: RuleContext) -> Refusal? {
        if submission.template != nil { return .unknownTemplate }
        if let sender = submission.sender, !Storable.isKey(sender.rawValue) { return .unknownSender }
        if isEmpty(submission.content) { return .invalid("body") }
        if !fits(submission.content) { return .invalid("content") }
        if !Storable.fits(submission.fallback, CommandLimits.fallbackBytes) { return .invalid("fallback") }
        if !Storable.fits(submission.collapseID, CommandLimits.collapseBytes) { return .invalid("collapseID") }
        if let key = submission.idempotencyKey, !Storable.isKey(key) { return .invalid("idempotencyKey") }
        if !Storable.fits(submission.bodyHash, CommandLimits.keyBytes) { return .invalid("bodyHash") }
        if let dueAt = submission.timing.dueAt, dueAt < context.now || dueAt > context.now + CommandLimits.scheduleAhead
        {
            return .invalid("dueAt")
        }
        // A local time that has passed in some zones is due there at once. A time that has passed in all zones is an error.
        if let local = submission.timing.localDue,
            submission.timing.dueAt != nil || local.latest < context.now
                || local.earliest > context.now + CommandLimits.scheduleAhead
        {
            return .invalid("dueAt")
        }
        if let life = submission.timing.timeToLive, life < .zero || life > CommandLimits.maximumTimeToLive {
            return .invalid("timeToLive")
        }
        if let numbering = submission.numbering, let refusal = refusal(of: numbering) { return refusal }
        if let refusal = refusal(ofCompanions: submission) { return refusal }
        return refusal(of: submission.audience)
    }

    static func refusal(of numbering: Numbering) -> Refusal? {
        if let refusal = refusal(of: numbering.variables) { return refusal }
        if let tokens = numbering.tokens {
            if tokens.isEmpty { return .noRecipients }
            if tokens.count > CommandLimits.tokenCount { return .tooMany("tokens", limit: CommandLimits.tokenCount) }
        }
        if let pace = numbering.pace, pace.count < 1 || pace.delay > CommandLimits.paceDelay { return .invalid("pace") }
        if let page = numbering.page, !Storable.fits(page.body, CommandLimits.pageBytes) { return .invalid("page") }
        return nil
    }

    private static func refusal(of variables: [UserVariables]) -> Refusal? {
        if variables.count > Audience.listedLimit { return .tooMany("variables", limit: Audience.listedLimit) }
        let limit = CommandLimits.attributeBytes
        return variables.allSatisfy { Storable.fits(.object($0.values), limit) } ? nil : .invalid("variables")
    }

    /// Checks the data stored with the message. A repeat would store it again, so an idempotency key is not allowed.
    private static func refusal(ofCompanions submission: Submission) -> Refusal? {
        if submission.variables.isEmpty, submission.labels.isEmpty, submission.schedule == nil { return nil }
        if submission.idempotencyKey != nil { return .invalid("idempotencyKey") }
        if let refusal = refusal(of: submission.variables) { return refusal }
        let isLabelled = submission.labels.allSatisfy { !$0.isEmpty && Storable.fits($0, CommandLimits.labelBytes) }
        if !isLabelled || submission.labels.count > CommandLimits.labelCount { return .invalid("labels") }
        let request = submission.schedule.map { JSON.object($0.request) }
        return Storable.fits(request, CommandLimits.scheduleBytes) ? nil : .invalid("schedule")
    }

    static func refusal(of audience: Audience) -> Refusal? {
        switch audience {
        case .listed(let list):
            return refusal(of: list.map(\.address), limit: Audience.listedLimit, where: isStorable)
        case .users(let users):
            return refusal(of: users, limit: Audience.listedLimit) { isStorable(.user($0)) }
        case .groups(let groups):
            return refusal(of: groups, limit: Audience.groupLimit) { Storable.isKey($0.rawValue) }
        case .tags(let expression):
            return TagTerms(expression) == nil ? .tooMany("tags", limit: TagTerms.tagLimit) : nil
        case .everyone: return nil
        }
    }

    private static func refusal<Entry>(of list: [Entry], limit: Int, where isStorable: (Entry) -> Bool) -> Refusal? {
        if list.isEmpty { return .invalid("audience") }
        if list.count > limit { return .tooMany("audience", limit: limit) }
        return list.allSatisfy(isStorable) ? nil : .invalid("audience")
    }

    private static func isStorable(_ address: Address) -> Bool {
        switch address {
        case .phone(let phone): Storable.isKey(phone)
        case .deviceKey(let key): Storable.isKey(key.rawValue)
        case .user(let user): Storable.isKey(user.rawValue)
        case .device: true
        }
    }

    /// Whether there is nothing to display and nothing to do in the background. A message with `apns` options may have no text: their rules were checked before.
    private static func isEmpty(_ content: Content) -> Bool {
        content.body.isEmpty && (content.title ?? "").isEmpty && !content.isSilent && content.raw == nil
            && content.apns == nil
    }

    static func fits(_ content: Content) -> Bool {
        let texts = [
            content.title, content.subtitle, content.body, content.sound, content.category, content.threadID,
            content.media?.id, content.media?.hash,
        ]
        let limit = CommandLimits.contentBytes
        return texts.allSatisfy { Storable.fits($0, limit) }
            && texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) } <= limit
            && Storable.fits(.object(content.data), limit) && Storable.fits(content.raw, limit)
            && Storable.fits(content.apns.map { .object($0) }, limit)
            && Storable.fits(content.activity?.name, CommandLimits.nameBytes)
    }

    /// The caller's value, otherwise the binding's `push.ttlHours`, otherwise the policy's.
    static func timeToLive(of submission: Submission, _ context: RuleContext) -> Duration {
        var life = context.policy.defaultTimeToLive
        if let hours = context.call.settings["push.ttlHours"]?.lenientInt, (1...672).contains(hours) {
            life = .seconds(hours * 3600)
        }
        return max(submission.timing.timeToLive ?? life, CommandLimits.minimumTimeToLive)
    }
}

/// A refusal that a rule returns as an error.
struct Refused: Error {
    var refusal: Refusal

    init(_ refusal: Refusal) { self.refusal = refusal }
}
