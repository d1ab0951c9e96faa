import Model
import ObservationStore
import Store

/// Messages that a vendor numbers, with an answer that names the recipients.
extension SubmissionPlan {
    /// The query for the recipients; nil: the maintained counts are sufficient.
    func recipients(_ numbering: Numbering) -> FindRecipients? {
        let among: FindRecipients.Among? =
            switch submission.audience {
            case .users: .users(users, tokens: numbering.tokens)
            case .everyone: numbering.tokens.map { .everyone(tokens: $0) }
            case .groups: numbering.tokens.map { .groups(groups, tokens: $0) }
            case .listed, .tags: nil
            }
        return among.map { FindRecipients(context.scope, $0, limit: Audience.listedLimit + 1) }
    }

    /// The message to the given recipients.
    func message(to found: [RecipientTarget], _ app: AppFacts, node: NodeID?) -> Result<NewMessage, Refused> {
        if found.isEmpty { return .failure(Refused(.noRecipients)) }
        guard found.count <= Audience.listedLimit else {
            // The users have more devices than a list may contain, so the audience is expanded page by page. A list of tokens is always shorter.
            return .success(expanded(.users(users), count: found.count, node))
        }
        // A device with a token and without a user is addressed by its own key.
        let named = found.map { recipient in
            reached(UserTarget(user: recipient.user ?? UserID(recipient.key.rawValue), found: recipient.found), app)
        }
        let order = users.isEmpty ? named.map(\.user) : users
        var seen: Set<UserID> = []
        var levels = levels(app)
        // A list of tokens names devices, not a person.
        if case .everyone = submission.audience { levels.isMixed = true }
        var targets = TargetPlan(
            order.filter { seen.insert($0).inserted },
            named,
            (rules(app.timing), context.now),
            levels
        ) { context.identifiers.target(for: $0, in: id) }
        if let pace = submission.numbering?.pace {
            targets.slow(to: pace, from: max(dueAt, context.now), until: expiresAt)
        }
        return .success(newMessage(targets, recipients: targets.count, node: node))
    }

    /// Adds to the acceptance the data that is stored with a message that the vendor numbers; the number is assigned last.
    func appending(to request: StoreRequest<Accepted>, _ message: NewMessage) -> StoreRequest<Accepted> {
        guard let numbering = submission.numbering else { return request }
        var request = request
        if !numbering.variables.isEmpty { request = request.adding(PutVariables(message.id, numbering.variables)) }
        if let draft = numbering.page, let page = message.content.page {
            let end = message.times.expiresAt
            request = request.adding(PutPage(message.id, page, body: draft.body, expiresAt: end))
        }
        if let pace = numbering.pace {
            // A list is cut already (`slow`); it keeps its pace when the message is resumed or requeued.
            let isExpanded = message.targets.slices.contains { $0.work != .deliver }
            if isExpanded || message.targets.slices.contains(where: { $0.dueAt != nil }) {
                request = request.adding(SetPace(message.id, isExpanded ? pace.coarsened : pace))
            }
        }
        // The first number of the gateway while an upstream numbers messages too.
        if let from = context.call.settings[BindingSettings.numbersFrom]?.lenientInt, from > 0 {
            request = request.adding(RaiseNumbers(context.scope, from: from))
        }
        return request.adding(SequenceMessage(context.scope, message.id)) { $0.number = $1 }
    }

    /// The reply of a numbered message.
    func numbered(_ message: NewMessage, _ number: String, _ facts: SubmissionFacts) -> SubmissionReply {
        guard let found = facts.recipients else {
            let count = message.targets.recipients ?? 0
            return .numbered(NumberedAcceptance(message: message.id, number: number, targetCount: count, keys: nil))
        }
        let known = Set(found.compactMap(\.user))
        return .numbered(
            NumberedAcceptance(
                message: message.id,
                number: number,
                targetCount: found.count,
                keys: found.map(\.key),
                missing: users.filter { !known.contains($0) }
            )
        )
    }
}

extension Pace {
    /// The same rate in larger steps: slices of a few targets would make a queue as long as the audience.
    var coarsened: Pace {
        let least = 100
        guard count < least else { return self }
        let factor = (least + count - 1) / max(1, count)
        return Pace(count: count * factor, delay: delay * factor)
    }
}

extension TargetPlan {
    /// Cuts the slices so that each `pace.count` targets are due one delay after the previous ones. Targets that would be due after `end` are due at `end`.
    mutating func slow(to pace: Pace, from start: Timestamp, until end: Timestamp) {
        guard pace.count > 0, pace.delay > .zero else { return }
        var cut: [NewSlice] = []
        var place = 0
        for slice in slices {
            var from = 0
            while from < slice.targets.count {
                let room = pace.count - place % pace.count
                let last = min(from + room, slice.targets.count)
                let delay = pace.delay * (place / pace.count)
                let due = delay == .zero ? slice.dueAt : min(max(start + delay, slice.dueAt ?? start), end)
                cut.append(
                    NewSlice(
                        number: Int32(clamping: cut.count),
                        work: slice.work,
                        targets: Array(slice.targets[from..<last]),
                        addresses: slice.addresses.isEmpty ? [] : Array(slice.addresses[from..<last]),
                        dueAt: due
                    )
                )
                place += last - from
                from = last
            }
        }
        slices = cut
    }
}
