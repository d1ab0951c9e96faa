package import Model
package import PageParts

/// One delivery: what happened to it and why, step by step, with the payload.
struct DeliveryPage: ConsolePage {
    let path = "messages/{message}/deliveries/{target}"
    let permission = Permission.figures

    func calls(_ request: PageRequest, _ answers: Answers) -> [APICall] {
        let message = request.path["message"] ?? ""
        return Reading.open(
            [MessageReading.message(message), MessageReading.delivery(message, request.path["target"] ?? "")],
            answers
        )
    }

    func export(_ request: PageRequest) -> APICall? {
        MessageReading.delivery(request.path["message"] ?? "", request.path["target"] ?? "")
    }

    func content(_ request: PageRequest, _ answers: Answers) throws(PageFailure) -> PageContent {
        let message = try answers.required("message")
        let delivery = try answers.required("delivery")
        let words = Words(request)
        let timeline = DeliveryTimeline(delivery, message, request)
        let target = delivery["target"]?.string ?? ""
        var page = PageContent(
            title: "\(words(DeliveryText.title)): \(MessageReading.title(message, words.language))",
            sentence: timeline.sentence,
            blocks: [
                Block(
                    width: 6,
                    title: words(DeliveryText.timeline),
                    note: words.time(message["dueAt"]),
                    body: [.timeline(timeline.moments)]
                ), Block(width: 6, title: words(DeliveryText.facts), body: [.facts(facts(delivery, message, words))]),
                DeliveryPayload.block(delivery, words),
            ]
        )
        page.actions = [.link(Link(words(DeliveriesText.back), MessagePage.path(message)))]
        if let device = delivery["device"]?.string, let id = message["id"]?.string {
            let query = [PageRequest.Parameter("message", id), PageRequest.Parameter("target", target)]
            let link = Link(words(DeliveryText.diagnose), Link.path("devices", device, "diagnosis"), query)
            page.actions.append(.link(link, isMain: true))
        }
        return page
    }

    private func facts(_ delivery: JSON, _ message: JSON, _ words: Words) -> [Fact] {
        let explanation = delivery["explanation"] ?? .null
        func fact(_ label: Text, _ value: String?, _ link: Link? = nil, isMono: Bool = false) -> Fact? {
            value.map { Fact(label: words(label), value: $0, link: link, isMono: isMono) }
        }
        func named(_ json: JSON?, _ path: String) -> Link? {
            guard let name = json?.string, !name.isEmpty else { return nil }
            return Link(Reading.line(name), Link.path(path, name))
        }
        let title = MessageReading.title(message, words.language)
        let facts = [
            fact(DeliveryText.message, title, Link(title, MessagePage.path(message))),
            fact(
                DeliveryText.device,
                Reading.text(delivery["device"]),
                named(delivery["device"], "devices"),
                isMono: true
            ),
            fact(DeliveryText.address, Reading.text(delivery["address"])),
            fact(MessagePageText.reason, Reading.text(delivery["reason"])),
            fact(DeliveryText.transport, Reading.text(delivery["transport"])),
            fact(Text(ko: "apns-id", en: "apns-id"), Reading.text(delivery["transportId"]), isMono: true),
            fact(DeliveryText.attempts, words.count(delivery["attempts"])),
            fact(DeliveryText.size, words.bytes(delivery["payloadBytes"]?.int)),
            fact(DeliveryText.reduced, Reading.text(delivery["reduced"])),
            fact(DeliveryText.topic, Reading.text(explanation["route"]?["topic"])),
            fact(
                DeliveryText.credential,
                Reading.text(explanation["route"]?["credential"]),
                named(explanation["route"]?["credential"], "credentials")
            ),
            fact(DeliveryText.rules, rules(explanation["rules"], words)),
            fact(DeliveryText.tried, DeliveryPaths.text(delivery, words)),
            fact(DeliveryText.upstream, Reading.text(explanation["upstream"]?["credential"])),
        ]
        return facts.compactMap { $0 }
    }

    private func rules(_ rules: JSON?, _ words: Words) -> String? {
        guard let rules, rules.object != nil else { return nil }
        let paths = (rules["paths"]?.array ?? []).compactMap { Reading.text($0, 60) }.joined(separator: ", ")
        return words(DeliveryText.version(words.count(rules["version"]), paths))
    }
}

/// The payload of an explained delivery, as it would be sent now.
package enum DeliveryPayload {
    package static func block(_ delivery: JSON, _ words: Words, width: Int = 12) -> Block {
        let push = delivery["explanation"]?["push"] ?? .null
        return Block(
            width: width,
            title: words(DeliveryText.payload),
            note: push["bytes"]?.int.map { words.bytes($0) },
            body: parts(push, words),
            foot: words(DeliveryText.recomputed)
        )
    }

    /// The parts of one push of the native API.
    package static func parts(_ push: JSON, _ words: Words) -> [Part] {
        func sentence(_ json: JSON?) -> String? { Reading.text(json, 1000).map { words(APISentence.text($0)) } }
        if let error = sentence(push["error"]) { return [.callout(.bad, error, link: nil)] }
        guard push.object != nil else { return [.text(words(DeliveryText.noPayload))] }
        var parts: [Part] = []
        if let refused = sentence(push["refused"]) { parts.append(.callout(.bad, refused, link: nil)) }
        let headers = (push["headers"]?.object?.pairs ?? []).compactMap { name, value in
            Reading.text(value, 256).map { Fact(label: Reading.line(name, 60), value: $0, isMono: true) }
        }
        if let payload = push["payload"], payload != .null {
            parts.append(.code(ShownJSON(payload).text, label: words(DeliveryText.payload)))
        } else {
            parts.append(.text(words(DeliveryText.hiddenPayload)))
        }
        if !headers.isEmpty { parts.append(.facts(headers)) }
        return parts
    }
}
