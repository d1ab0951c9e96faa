import ConsoleDelivery
import Model
import PageParts

/// The answer to why a device is not notified, and the conditions behind it, in the words of the console.
///
/// The native API names each condition, whether it is met, since when and for which reason; its English sentences are not shown.
struct DiagnosisRules {
    let diagnosis: JSON
    let device: JSON
    /// The explained delivery that is looked at; null: none.
    let delivery: JSON
    let words: Words
    /// The messages that wait.
    let waits: DiagnosisWaits

    init(_ diagnosis: JSON, _ device: JSON, _ delivery: JSON, _ words: Words, mayApprove: Bool = false) {
        waits = DiagnosisWaits(diagnosis: diagnosis, device: device, words: words, mayApprove: mayApprove)
        self.diagnosis = diagnosis
        self.device = device
        self.delivery = delivery
        self.words = words
    }

    var conditions: [JSON] { diagnosis["conditions"]?.array ?? [] }
    var deliveries: [JSON] { diagnosis["deliveries"]?.array ?? [] }

    /// The first condition that prevents a push. Its text is the answer of the native API.
    var preventing: JSON? {
        guard diagnosis["reachable"]?.bool == false else { return nil }
        let blocking = conditions.filter { $0["blocks"]?.bool == true && $0["met"]?.bool == false }
        return blocking.first { $0["text"]?.string == diagnosis["answer"]?.string } ?? blocking.first
    }

    /// The answer of the page. `chosen`: what is to be said of the delivery that the address names.
    func sentence(chosen: Sentence? = nil) -> Sentence {
        let preventing = preventing
        // A delivery that was not made has its own cause, unless the condition that prevents a push now is the same.
        if let chosen, chosen.mark != .ok, let state = delivery["state"]?.string,
            ["failed", "suppressed", "expired", "canceled", "queued"].contains(state)
        {
            let isSame = delivery["reason"]?.string != nil && reason(of: preventing) == delivery["reason"]?.string
            if !isSame { return chosen }
        }
        if let preventing {
            let text = [detail(preventing), action(preventing)].compactMap { $0 }.joined(separator: " ")
            // The device's own page has this sentence too.
            let isElsewhere = ["credential", "lane"].contains(preventing["condition"]?.string)
            return Sentence(mark: .bad, text: text, link: isElsewhere ? link(preventing) : nil)
        }
        guard diagnosis["reachable"]?.bool == true else {
            return Sentence(mark: .idle, text: words(DiagnosisText.unknown))
        }
        if let first = waits.first { return waits.sentence(first) }
        if let receipts = conditions.first(where: { $0["condition"]?.string == "receipts" }),
            receipts["met"]?.bool == false
        {
            return Sentence(mark: .warn, text: words(DiagnosisText.silent(words.time(receipts["since"]))))
        }
        let rest = waits.areIncomplete ? [WaitingText.incomplete] : []
        return Sentence(mark: .ok, text: ([DiagnosisText.reachable] + rest).map { words($0) }.joined(separator: " "))
    }

    // MARK: Checks

    /// The conditions: failed ones first, then warnings, then the others, each in the order of the examination.
    var checks: [Check] {
        let all = conditions.map(check)
        let order: [Mark] = [.bad, .warn, .idle, .info, .ok]
        return order.flatMap { mark in all.filter { $0.mark == mark } }
    }

    var counts: String {
        let all = conditions.map(mark)
        func count(_ marks: [Mark]) -> Int64 { Int64(all.filter { marks.contains($0) }.count) }
        let parts = [
            (DiagnosisText.failed, count([.bad])), (DiagnosisText.warnings, count([.warn])),
            (DiagnosisText.passed, count([.ok])), (DiagnosisText.notKnown, count([.idle])),
        ]
        return parts.filter { $0.1 > 0 }.map { words($0.0(words.count($0.1))) }.joined(separator: " · ")
    }

    private func mark(_ condition: JSON) -> Mark {
        switch condition["met"]?.bool {
        case true?: .ok
        case false?: condition["blocks"]?.bool == true ? .bad : .warn
        case nil: .idle
        }
    }

    private func check(_ condition: JSON) -> Check {
        let name = condition["condition"]?.string
        var title = words(ConditionWords.title(name ?? Words.unknown))
        if let identity = condition["identity"], identity.object != nil {
            let key = Reading.text(identity["key"], 40) ?? Words.unknown
            title += " · \(VendorName.of(Reading.text(identity["vendor"]), words.language)) \(key)"
        }
        let isMet = condition["met"]?.bool == true
        let text =
            isMet ? detail(condition) : [detail(condition), action(condition)].compactMap { $0 }.joined(separator: " ")
        return Check(mark: mark(condition), title: title, detail: text, link: link(condition))
    }

    /// The state of a condition, as a sentence.
    func detail(_ condition: JSON) -> String {
        let name = condition["condition"]?.string
        switch condition["met"]?.bool {
        case nil: return words(DiagnosisText.unknownState(name))
        case true?: return met(condition)
        case false?: return unmet(condition)
        }
    }

    private func met(_ condition: JSON) -> String {
        let since = words.moment(condition["since"]).map { words.time($0) }
        switch condition["condition"]?.string {
        case "route":
            let topic = Reading.text(route["topic"], 80) ?? Words.unknown
            return "\(topic) · \(StateTag.environment(device["environment"]?.string)(words.language))"
        case "credential":
            return words(DiagnosisText.credentialWorks(credential(of: condition) ?? ""))
        case "receivingWindow":
            return DevicePage.window(device["receivingWindow"]).map { words(DiagnosisText.inWindow($0)) }
                ?? words(DiagnosisText.met("receivingWindow"))
        case "registration", "token": return words(DiagnosisText.metSince(condition["condition"]?.string, since))
        case "receipts": return words(DiagnosisText.lastReceipt(since ?? Words.unknown))
        case let name: return words(DiagnosisText.met(name))
        }
    }

    private func unmet(_ condition: JSON) -> String {
        let since = words.moment(condition["since"]).map { words.time($0) }
        let until = words.moment(condition["until"]).map { words.time($0) }
        let reason = reason(of: condition)
        switch condition["condition"]?.string {
        case "token":
            if device["tokenState"]?.string == "none" { return words(DiagnosisText.noToken) }
            if let reason, ["Unregistered", "ExpiredToken"].contains(reason) {
                return words(DiagnosisText.tokenExpired(since))
            }
            return [words(DiagnosisText.tokenRejected(since, reason)), LossReason.meaning(reason, words.language)]
                .filter { !$0.isEmpty }.joined(separator: " ")
        case "credential":
            let name = credential(of: condition) ?? ""
            let refusal = reason ?? Reading.text(route["refusal"], 60)
            guard let refusal else { return words(DiagnosisText.credentialMissing(name)) }
            return words(DiagnosisText.credentialRefused(name, refusal, since))
        case "quietHours", "receivingWindow":
            let name = condition["condition"]?.string
            if let until { return words(DiagnosisText.waitsUntil(name, until)) }
            return reason.map { LossReason.meaning($0, words.language) } ?? words(DiagnosisText.unmet(name))
        case "lastDelivery":
            let latest = deliveries.first ?? .null
            let state = StateTag.delivery(latest["state"]?.string).text(words.language)
            let why = latest["reason"]?.string.map { LossReason.meaning($0, words.language) } ?? ""
            return words(DiagnosisText.lastFailed(state, since, why))
        case "receipts": return words(DiagnosisText.noReceipts(since))
        case "pushSetting" where reason == nil: return words(DiagnosisText.systemSetting)
        case "registration": return words(DiagnosisText.ended(since, isLast: condition["blocks"]?.bool == true))
        case let name:
            if let reason, LossReason.of(reason) != nil { return LossReason.meaning(reason, words.language) }
            return words(DiagnosisText.unmet(name))
        }
    }

    /// The recommended action of a condition that is not met; nil: none.
    func action(_ condition: JSON) -> String? {
        guard condition["met"]?.bool == false else { return nil }
        let name = condition["condition"]?.string
        if name == "token", let reason = reason(of: condition),
            !["noDevice", "Unregistered", "ExpiredToken"].contains(reason),
            let known = LossReason.of(reason)
        {
            return known.action(words.language)
        }
        if let text = DiagnosisText.action(name) { return words(text) }
        if name == "lastDelivery" {
            return LossReason.of(deliveries.first?["reason"]?.string).map { $0.action(words.language) }
        }
        return LossReason.of(reason(of: condition)).map { $0.action(words.language) }
    }

    /// The reason of a condition: its own, or where the native API does not name one, that of the delivery which shows it.
    func reason(of condition: JSON?) -> String? {
        guard let condition else { return nil }
        let name = condition["condition"]?.string
        // `noDevice` of a token that was rejected is not the reason of the rejection.
        let isRejected = name == "token" && ["invalid", "quarantined"].contains(device["tokenState"]?.string)
        if let reason = condition["reason"]?.string, !(isRejected && reason == "noDevice") { return reason }
        switch name {
        case "token":
            if device["tokenState"]?.string == "none" { return "noDevice" }
            if let reason = delivery["explanation"]?["device"]?["tokenReason"]?.string { return reason }
            // The latest rejection of the present token.
            return deliveries.first {
                $0["state"]?.string == "failed" && Self.tokenReasons.contains($0["reason"]?.string)
            }?[
                "reason"
            ]?.string
        case "credential": return route["refusal"]?.string
        case "frequencyCap": return "frequencyCap"
        case "assurance", "highestLevel": return "assurance"
        default: return nil
        }
    }

    private static let tokenReasons: Set<String?> = [
        "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic",
    ]

    private var route: JSON { delivery["explanation"]?["route"] ?? .null }

    /// The credential that a condition is about.
    private func credential(of condition: JSON) -> String? { Reading.text(condition["credential"], 60) }

    /// Where a condition can be changed, or its cause is visible.
    private func link(_ condition: JSON) -> Link? {
        let app = device["app"]?.string ?? ""
        let page = Link.path("devices", device["id"]?.string ?? "")
        switch condition["condition"]?.string {
        case "app", "platform", "route", "dialect", "quietHours", "frequencyCap":
            return Link(words(DiagnosisText.toApp), Link.path("apps", app))
        case "registration", "token", "assurance", "highestLevel", "receivingWindow":
            return Link(words(DiagnosisText.toDevice), page)
        case "credential":
            guard let credential = condition["credential"]?.string else {
                return Link(words(DiagnosisText.toCredentials), "credentials")
            }
            return Link(words(DiagnosisText.toCredentials), Link.path("credentials", credential))
        case "pushSetting", "optIn", "consents":
            let identity = condition["identity"]?["id"]?.string
            let known = (device["identities"]?.array ?? []).first { $0["id"]?.string == identity }
            guard let user = known?["user"]?.string, !user.isEmpty else {
                return Link(words(DiagnosisText.toDevice), page)
            }
            var link = UserPage.link(user, app, known?["vendor"]?.string)
            link.label = words(DiagnosisText.toUser)
            return link
        case "lane": return Link(words(DiagnosisText.toQueue), "nodes")
        case "lastDelivery", "receipts":
            guard let latest = deliveries.first, let message = latest["message"]?.string,
                let target = latest["target"]?.string
            else { return nil }
            return Link(words(DiagnosisText.toDelivery), Link.path("messages", message, "deliveries", target))
        default: return nil
        }
    }
}
