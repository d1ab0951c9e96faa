/// The JSON form on the control port; `docs/simulator.md` lists every field.
extension ScriptedAnswer: Decodable {
    /// The longest latency and duration: one hour. A duration that is omitted has no end.
    static let longestMilliseconds = 3_600_000

    package init(from decoder: any Decoder) throws {
        let fields = try ScriptFields(from: decoder)
        let selector = try fields.selector()
        guard fields.times.map({ $0 > 0 }) ?? true else { throw fields.refusal(.times, "must be positive") }
        if let name = fields.fault {
            guard fields.status == nil else {
                throw fields.refusal(.status, "a status or a fault, not both")
            }
            let fault = try fields.makeFault(name, at: selector.moment)
            self.init(selector, fault: fault, times: fields.times)
            isDelivered = fields.delivered ?? false
        } else {
            guard let status = fields.status, (200...599).contains(status) else {
                throw fields.refusal(.status, "a status of 200 to 599, or a fault, is required")
            }
            guard selector.moment == .end else { throw fields.refusal(.at, "a status requires the moment end") }
            self.init(
                token: selector.token,
                status: status,
                reason: fields.reason,
                timestamp: fields.timestamp,
                times: fields.times
            )
            self.selector = selector
            retryAfter = fields.retryAfter
            shape = try fields.oneOf(Shape.self, fields.shape, .shape)
        }
        latency = try fields.heldBack()
    }
}

extension ScriptFields {
    /// The selector of the entry.
    func selector() throws -> ScriptSelector {
        let isAnyPush = token != nil || stream != nil || every != nil || share != nil
        guard isAnyPush || connection != nil else {
            throw refusal(.token, "a token, connection, stream, every or share is required")
        }
        guard (1...1024).contains((token ?? "*").utf8.count) else { throw refusal(.token, "1 to 1024 characters") }
        guard stream.map({ $0 > 0 }) ?? true else { throw refusal(.stream, "must be 1 or more") }
        guard every.map({ $0 > 0 }) ?? true else { throw refusal(.every, "must be 1 or more") }
        guard share.map({ $0 > 0 && $0 <= 1 }) ?? true else { throw refusal(.share, "must be above 0 and at most 1") }
        let usual: ScriptSelector.Moment =
            fault == "slowHandshake" ? .accept : isAnyPush ? .end : .open
        let moment = try oneOf(ScriptSelector.Moment.self, at, .at) ?? usual
        if moment == .accept || moment == .open {
            guard token == nil, stream == nil else {
                throw refusal(.at, "token and stream are not possible at accept and open")
            }
        }
        return ScriptSelector(
            token: token ?? "*",
            connection: connection?.number,
            stream: stream,
            every: every,
            share: share,
            lifetime: try duration(forMs, .forMs),
            moment: moment
        )
    }

    /// The delay of the answer.
    func heldBack() throws -> Latency {
        guard let latencyMs else { return latency ?? .zero }
        guard latency == nil else { throw refusal(.latency, "latency or latencyMs, not both") }
        guard (0...ScriptedAnswer.longestMilliseconds).contains(latencyMs) else {
            throw refusal(.latencyMs, "0 to \(ScriptedAnswer.longestMilliseconds)")
        }
        return .milliseconds(latencyMs)
    }

    /// The fault with its fields, if it can be injected at this moment.
    func makeFault(_ name: String, at moment: ScriptSelector.Moment) throws -> Fault {
        let fault = try bareFault(name)
        let fits =
            switch moment {
            case .accept: fault.fitsAccept
            case .open: fault.fitsConnection
            case .headers, .end: !isSlowHandshake(fault)
            }
        guard fits else { throw refusal(.at, "\(name) cannot be played at \(moment.rawValue)") }
        return fault
    }

    private func isSlowHandshake(_ fault: Fault) -> Bool {
        if case .slowHandshake = fault { true } else { false }
    }

    private func bareFault(_ name: String) throws -> Fault {
        switch name {
        case "reset": .reset(code: try errorCode() ?? 7)
        case "goaway": .goingAway(try goAway())
        case "silence": .silence
        case "close": .close
        case "tcpReset": .tcpReset
        case "half": .half(then: try oneOf(Fault.Ending.self, then, .then) ?? .close)
        case "tlsAlert": .tlsAlert(code: try alertCode())
        case "freeze": .freeze(until: try duration(restoreMs, .restoreMs))
        case "settings":
            .settings(
                StreamLimitChange(
                    streams: try bounded(streams ?? 1, 0...4096, .streams),
                    restoredAfter: try duration(restoreMs, .restoreMs),
                    refusesStreamsAbove: refuse ?? false
                )
            )
        case "starve":
            .starve(
                windowBytes: try bounded(windowBytes ?? 0, 0...65_535, .windowBytes),
                until: try duration(restoreMs, .restoreMs)
            )
        case "raw": .raw(try rawBytes())
        case "shutdown": .shutDown
        case "slowHandshake": .slowHandshake(try heldBack().constant ?? .zero)
        default: throw refusal(.fault, "no such fault: see docs/simulator.md")
        }
    }

    private func goAway() throws -> GoAwayFault {
        guard text == nil || reason == nil else { throw refusal(.text, "a reason or a text, not both") }
        guard (text ?? reason ?? "").utf8.count <= 1024 else { throw refusal(.text, "at most 1024 bytes") }
        return GoAwayFault(
            code: try errorCode() ?? 0,
            debugText: text ?? GoAwayFault.json(reason ?? Reason.shutdown.rawValue),
            lastStream: try oneOf(GoAwayFault.LastStream.self, lastStream, .lastStream)
                ?? (processed == true ? .this : .before),
            repetition: try oneOf(GoAwayFault.Repetition.self, twice, .twice),
            ending: try oneOf(Fault.Ending.self, then, .then) ?? .close
        )
    }

    private func errorCode() throws -> Int? {
        guard let code else { return nil }
        guard (0...Int(UInt32.max)).contains(code) else { throw refusal(.code, "an HTTP/2 error code has 32 bits") }
        return code
    }

    private func alertCode() throws -> UInt8? {
        guard let code else { return nil }
        guard let alert = UInt8(exactly: code) else { throw refusal(.code, "a TLS alert has 8 bits") }
        return alert
    }

    private func rawBytes() throws -> [UInt8] {
        let digits = Array((bytes ?? "").utf8)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), digits.count <= 131_072,
            digits.allSatisfy(\.isHexDigit)
        else { throw refusal(.bytes, "hexadecimal, 1 to 65536 bytes") }
        return stride(from: 0, to: digits.count, by: 2).map { index in
            UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    private func bounded(_ number: Int, _ range: ClosedRange<Int>, _ key: Key) throws -> Int {
        guard range.contains(number) else {
            throw refusal(key, "\(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private func duration(_ milliseconds: Int?, _ key: Key) throws -> Duration? {
        guard let milliseconds else { return nil }
        return .milliseconds(try bounded(milliseconds, 1...ScriptedAnswer.longestMilliseconds, key))
    }

    fileprivate func oneOf<Word: RawRepresentable & CaseIterable>(
        _ words: Word.Type,
        _ text: String?,
        _ key: Key
    ) throws -> Word? where Word.RawValue == String {
        guard let text else { return nil }
        guard let word = Word(rawValue: text) else {
            throw refusal(key, "one of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }
}
