import Model

/// The two send calls, which differ in how they name a target (docs/contracts/rationalowl.md#8.3, docs/contracts/rationalowl.md#8.4).
extension RationalOwlRequest {
    /// How the entries of `dest.tg` name their targets. An unknown phone or device is a valid target (docs/contracts/rationalowl.md#8.3,
    /// docs/contracts/rationalowl.md#8.4).
    enum TargetNaming {
        case phones, devices
    }

    /// The message and its audience. Whether a reservation is in the past is checked later, because this type has no clock.
    ///
    /// - Throws: `AdapterError` naming the invalid field.
    func submission(to naming: TargetNaming) throws(AdapterError) -> Submission {
        let sender = try sender()
        guard let message = try fields.fields("msg") else { throw fields.missing("msg") }
        let template = try template(message)
        let content = try content(message, hasTemplate: template != nil)
        let audience = try audience(naming)
        return Submission(
            sender: sender,
            content: content,
            template: template,
            audience: audience,
            timing: SubmissionTiming(dueAt: try reservation(), timeToLive: settings.timeToLive),
            lane: Self.lane(isUrgent: content.isUrgent, audience: audience),
            image: try image(),
            fallback: try FallbackRequest(fields.fields("a"), settings: settings)?.json,
            idempotencyKey: try repeatKey()
        )
    }

    private func content(_ message: RationalOwlFields, hasTemplate: Bool) throws(AdapterError) -> Content {
        let body = try koreanText(message, "body")
        guard body != nil || hasTemplate else { throw message.missing("body") }
        return Content(title: try koreanText(message, "title"), body: body ?? "", isUrgent: try isUrgent(message))
    }

    private func koreanText(_ message: RationalOwlFields, _ key: String) throws(AdapterError) -> String? {
        let text = try message.text(key, limit: RationalOwlLimits.textRawBytes)
        guard let text, KoreanText.byteCount(text) > RationalOwlLimits.textBytes else { return text }
        throw message.tooMuch(key)
    }

    /// Assumed: `msg.type` 1 or 2, or the flag `msg.u`. The console has a check box, but no field is documented (docs/contracts/rationalowl.md#8.3).
    private func isUrgent(_ message: RationalOwlFields) throws(AdapterError) -> Bool {
        switch try message.integer("type") {
        case 2: return true
        case 1: return false
        case nil: return try message.flag("u") ?? false
        case .some: throw message.invalid("type")
        }
    }

    private func template(_ message: RationalOwlFields) throws(AdapterError) -> TemplateReference? {
        guard let id = try message.text("tId") else { return nil }
        return TemplateReference(id: id, arguments: try TemplateArguments(message)?.json)
    }

    func audience(_ naming: TargetNaming) throws(AdapterError) -> Audience {
        guard let destination = try fields.fields("dest") else { throw fields.missing("dest") }
        switch try destination.integer("t") {
        case 1: return .everyone
        case 2: return .listed(try targets(of: destination, naming))
        case nil: throw destination.missing("t")
        case .some: throw destination.invalid("t")
        }
    }

    /// Each person receives the message once (docs/contracts/rationalowl.md#8.3); the name in the first entry is used.
    private func targets(of destination: RationalOwlFields, _ naming: TargetNaming) throws(AdapterError) -> [Addressee]
    {
        guard let list = try destination.list("tg") else { throw destination.missing("tg") }
        guard list.count <= RationalOwlLimits.targetCount else { throw destination.tooMuch("tg") }
        var seen: Set<Address> = []
        var targets: [Addressee] = []
        for entry in list {
            guard let object = entry.object else { throw destination.invalid("tg") }
            let target = RationalOwlFields(object, below: "dest.tg.")
            let found = try address(of: target, naming)
            let name = try target.text("un", limit: RationalOwlLimits.nameBytes)
            if seen.insert(found).inserted { targets.append(Addressee(found, name: name)) }
        }
        return targets
    }

    private func address(of target: RationalOwlFields, _ naming: TargetNaming) throws(AdapterError) -> Address {
        switch naming {
        case .phones:
            guard let phone = try target.phone("pn") else { throw target.missing("pn") }
            return .phone(phone.digits)
        case .devices: return .deviceKey(VendorDeviceKey(try target.required("dId")))
        }
    }

    private func reservation() throws(AdapterError) -> Timestamp? {
        guard let reservation = try fields.fields("rv") else { return nil }
        switch try reservation.integer("t") {
        case 1: return nil
        case 2:
            guard let time = ReservationTime.parse(try reservation.required("st"), zone: settings.timeZone) else {
                throw reservation.invalid("st")
            }
            return time
        case nil: throw reservation.missing("t")
        case .some: throw reservation.invalid("t")
        }
    }

    private func image() throws(AdapterError) -> InlineImage? {
        guard let image = try fields.fields("img") else { return nil }
        let text = try image.required("imgD", limit: RationalOwlLimits.senderBodyBytes)
        guard let bytes = Base64Image.decode(text) else { throw image.invalid("imgD") }
        return InlineImage(
            name: try image.text("imgN", limit: RationalOwlLimits.nameBytes),
            bytes: bytes,
            // A different size is logged, not refused: in the vendor's own example the stated size is wrong.
            statedSize: try image.integer("imgS").map { Int(clamping: $0) }
        )
    }

    /// At most `identifierBytes` of printable ASCII, as in a header value.
    private func repeatKey() throws(AdapterError) -> String? {
        guard let key = idempotencyKey, !key.isEmpty else { return nil }
        guard key.utf8.count <= RationalOwlLimits.identifierBytes, key.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else {
            throw AdapterError(.invalid, field: "Idempotency-Key")
        }
        return key
    }

    private static func lane(isUrgent: Bool, audience: Audience) -> Lane {
        if isUrgent { return .urgent }
        if case .listed(let targets) = audience, targets.count == 1 { return .transactional }
        return .bulk
    }
}
