package import Model
package import PageParts

/// The course of one delivery, from the answers about it and its message.
package struct DeliveryTimeline {
    /// An explained delivery.
    let delivery: JSON
    let message: JSON
    private let words: Words

    package init(_ delivery: JSON, _ message: JSON, _ request: PageRequest) {
        self.delivery = delivery
        self.message = message
        words = Words(request)
    }

    private var state: DeliveryState? { delivery["state"]?.string.flatMap { DeliveryState(rawValue: $0) } }
    private var reason: String? { Reading.text(delivery["reason"], 80) }
    private var explanation: JSON { delivery["explanation"] ?? .null }

    /// A step before its time since the step before is known.
    private struct Step {
        var at: Timestamp?
        var mark: Mark
        var title: String
        var detail: String?
        var source: Text
    }

    package var moments: [TimelineMoment] {
        var last: Timestamp?
        return steps.map { step in
            var delta: String?
            if let at = step.at, let before = last, at >= before {
                delta = "+" + words.latency((at - before).milliseconds)
            }
            last = step.at ?? last
            return TimelineMoment(
                time: step.at.map { words.format.timeOfMilliseconds($0) } ?? Words.unknown,
                delta: delta,
                mark: step.mark,
                title: step.title,
                detail: step.detail,
                source: words(step.source)
            )
        }
    }

    private var steps: [Step] {
        var steps = beginning
        switch state {
        case .queued, nil: steps.append(waiting)
        case .suppressed:
            steps.append(ending(.idle, DeliveryText.notSent, LossReason.meaning(reason, words.language)))
        case .expired: steps.append(ending(.bad, DeliveryText.expired, words(DeliveryText.didExpire)))
        case .canceled: steps.append(ending(.idle, DeliveryText.canceled, words(DeliveryText.wasCanceled)))
        case .failed: steps += failure
        case .sent, .received, .read: steps += success
        }
        return steps
    }

    private var beginning: [Step] {
        let vendor = VendorName.of(Reading.text(message["vendor"]), words.language)
        let accepted = words.moment(message["acceptedAt"])
        var steps: [Step] = []
        if let accepted {
            let detail = words(DeliveryText.targets(vendor, words.count(message["recipients"])))
            steps.append(step(accepted, .ok, DeliveryText.accepted, detail, ReadingWords.gateway))
        }
        // A message that is due within a second of its acceptance was not scheduled.
        if let accepted, let due = words.moment(message["dueAt"]), (due - accepted).milliseconds > 1000,
            due <= words.now
        {
            steps.append(step(due, .ok, DeliveryText.due, nil, ReadingWords.gateway))
        }
        return steps
    }

    private var sending: [Step] {
        guard let sent = handedOver else { return [] }
        let dialect = Reading.text(delivery["deviceVendor"]) ?? Reading.text(message["vendor"])
        var parts = [VendorName.of(dialect, words.language)]
        if let credential = Reading.text(explanation["route"]?["credential"]) { parts.append(credential) }
        return [step(sent, .ok, DeliveryText.sent, parts.joined(separator: " · "), ReadingWords.gateway)]
    }

    /// How long the push service took to answer; nil: it did not.
    private var latency: Int64? {
        delivery["transportMilliseconds"]?.int.flatMap { (0...86_400_000).contains($0) ? $0 : nil }
    }

    /// When the push service answered; nil: not known. The outcome has its time.
    private var answered: Timestamp? { latency == nil ? nil : words.moment(delivery["sentAt"]) }

    /// When the push was handed over to the push service.
    private var handedOver: Timestamp? {
        words.moment(delivery["sentAt"]).map { $0 + .milliseconds(-(latency ?? 0)) }
    }

    private var size: String {
        words(DeliveryText.bytes(words.bytes(delivery["payloadBytes"]?.int), words.count(delivery["attempts"])))
    }

    private var failure: [Step] {
        guard words.moment(delivery["sentAt"]) != nil else {
            return [ending(.bad, DeliveryText.notSent, LossReason.meaning(reason, words.language))]
        }
        var rejected = step(answered, .bad, DeliveryText.notSent, size, DeliveryText.apns)
        rejected.title = words(DeliveryText.rejected(reason ?? Words.unknown))
        var steps = sending + [rejected]
        let device = explanation["device"] ?? .null
        if device["tokenState"]?.string == "invalid", device["tokenReason"]?.string == delivery["reason"]?.string {
            let detail = words(DeliveryText.invalidatedDetail)
            steps.append(step(nil, .bad, DeliveryText.invalidated, detail, ReadingWords.gateway))
        }
        return steps + [noReceipt]
    }

    private var success: [Step] {
        var steps = sending
        if delivery["certain"]?.bool == false {
            let detail = words(DeliveryText.unansweredDetail)
            steps.append(step(nil, .warn, DeliveryText.unanswered, detail, DeliveryText.apns))
        } else {
            steps.append(step(answered, .ok, DeliveryText.ofService, size, DeliveryText.apns))
        }
        if let received = words.moment(delivery["receivedAt"]) {
            steps.append(step(received, .ok, DeliveryText.received, nil, DeliveryText.app))
        }
        if let read = words.moment(delivery["readAt"]) {
            steps.append(step(read, .ok, DeliveryText.read, nil, DeliveryText.app))
        }
        if state == .sent { steps.append(noReceipt) }
        return steps
    }

    private var waiting: Step {
        let next = words.moment(explanation["queue"]?["nextTryAt"]).map { words.time($0) }
        let detail = next.map { words(DeliveryText.isQueued($0)) } ?? words(DeliveryText.isQueuedSoon)
        return step(nil, .info, DeliveryText.waiting, detail, ReadingWords.gateway)
    }

    private var noReceipt: Step {
        step(nil, .idle, DeliveryText.noReceipt, words(DeliveryText.noReceiptDetail), DeliveryText.app)
    }

    private func ending(_ mark: Mark, _ title: Text, _ detail: String) -> Step {
        step(nil, mark, title, detail.isEmpty ? nil : detail, ReadingWords.gateway)
    }

    private func step(_ at: Timestamp?, _ mark: Mark, _ title: Text, _ detail: String?, _ source: Text) -> Step {
        Step(at: at, mark: mark, title: words(title), detail: detail, source: source)
    }

    // MARK: Sentence

    /// The state of the delivery in one sentence, with the recommended action.
    package var sentence: Sentence {
        switch state {
        case .queued, nil: return queued
        case .sent where delivery["certain"]?.bool == false:
            return Sentence(mark: .warn, text: words(DeliveryText.unansweredDetail))
        case .sent: return Sentence(mark: .warn, text: words(DeliveryText.isSent))
        case .received:
            return Sentence(mark: .ok, text: words(DeliveryText.isReceived(words.time(delivery["receivedAt"]))))
        case .read: return Sentence(mark: .ok, text: words(DeliveryText.isRead(words.time(delivery["readAt"]))))
        case .expired: return Sentence(mark: .bad, text: words(DeliveryText.didExpire))
        case .canceled: return Sentence(mark: .idle, text: words(DeliveryText.wasCanceled))
        case .failed, .suppressed:
            let meaning = reason.map { LossReason.meaning($0, words.language) } ?? words(DeliveryText.didFail)
            let action = LossReason.of(reason).map { " \($0.action(words.language))" } ?? ""
            return Sentence(mark: state == .failed ? .bad : .idle, text: meaning + action)
        }
    }

    private var queued: Sentence {
        let queue = explanation["queue"] ?? .null
        if let reason = queue["gaveUp"]?.string {
            let text = words(DeliveryText.gaveUp(LossReason.meaning(reason, words.language)))
            return Sentence(mark: .bad, text: text)
        }
        if queue["isPaused"]?.bool == true || message["state"]?.string == "paused" {
            return Sentence(mark: .warn, text: words(DeliveryText.isPaused))
        }
        if let held = Reading.text(queue["heldBy"], 60) {
            let link = Link(words(DeliveryText.credential), Link.path("credentials", queue["heldBy"]?.string ?? ""))
            return Sentence(mark: .bad, text: words(DeliveryText.waitsFor(held)), link: link)
        }
        let waits = explanation["waits"] ?? .null
        if let until = words.moment(waits["until"]) {
            let cause: Text =
                switch waits["because"]?.string {
                case "quietHours": DeliveryText.quietHours
                case "receivingWindow": DeliveryText.window
                default: DeliveryText.localTime
                }
            return Sentence(mark: .info, text: words(DeliveryText.hours(words.time(until), words(cause))))
        }
        guard let next = words.moment(queue["nextTryAt"]) else {
            return Sentence(mark: .info, text: words(DeliveryText.isQueuedSoon))
        }
        return Sentence(mark: .info, text: words(DeliveryText.isQueued(words.time(next))))
    }
}
