import Commands
import DeliveryEngine
import GatewayHTTP
import HTTPTypes
import HummingbirdCore
import Logging
import Model
import NIOCore
import Observability

/// Processes one vendor call: read, locate, prove, decode, command, encode. It contains no vendor-specific code.
final class VendorEndpoint: Sendable {
    let directory: any CallDirectory
    let outage = StoreOutage()
    let failures = FailureLines()
    /// The parts for calls that upstreams answer or receive.
    let upstreams: UpstreamSide
    let handler: CommandHandler
    private let handOver: @Sendable ([SliceLease]) -> Void
    let limits: VendorLimits
    let proofs: RefusedProofs
    private let bodies: LargeBodies
    let identifiers: any IdentifierSource
    let logger: Logger
    let recorder: CaptureRecorder?
    let certificates: PeerCertificateReader?
    let multiStep: [Vendor: any MultiStepVendor]
    private let receipts: ReceiptTracing?
    private let counts = VendorCallCounts()

    /// Without a recorder, no call is captured.
    init(
        directory: any CallDirectory,
        upstreams: UpstreamSide = UpstreamSide(),
        handler: CommandHandler,
        handOver: @escaping @Sendable ([SliceLease]) -> Void,
        limiter: CallLimiter,
        bodies: LargeBodies,
        identifiers: any IdentifierSource,
        logger: Logger,
        recorder: CaptureRecorder? = nil,
        proofs: CallerProofs = CallerProofs(),
        multiStep: [Vendor: any MultiStepVendor],
        receipts: ReceiptTracing? = nil
    ) {
        self.directory = directory
        self.upstreams = upstreams
        self.handler = handler
        self.handOver = handOver
        limits = VendorLimits(limiter: limiter)
        self.bodies = bodies
        self.identifiers = identifiers
        self.logger = logger
        self.recorder = recorder
        certificates = proofs.certificates
        self.proofs = proofs.refused
        self.multiStep = multiStep
        self.receipts = receipts
    }

    /// The answer to `request`, always in the vendor's format, or that of an upstream.
    func respond(
        to request: Request,
        match: VendorMounts.Match,
        client: ClientAddress,
        channel: (any Channel)?
    ) async -> VendorAnswer {
        let started = ContinuousClock.now
        var call = begun(request, match, client)
        var record = CallRecord()
        var hold = CallHold()
        hold.channel = channel
        let response = await answer(&call, request, match, channel, &record, &hold)
        ended(call, response, record, hold, match, started)
        LargeBodies.free(bodyOf: &call, [hold.room, hold.values])
        return VendorAnswer(response: response, proxied: hold.proxied, room: hold.room)
    }

    // Not inlined, as in `CommandHandler`: keeps the async frames of waiting calls small.

    @inline(never)
    private func begun(_ request: Request, _ match: VendorMounts.Match, _ client: ClientAddress) -> VendorRequest {
        VendorRequest(
            route: match.route.name,
            method: request.method,
            path: request.uri.path,
            query: request.uri.query,
            headers: Self.headersWithHost(request),
            remoteAddress: client.text,
            isAddressKnown: client.isKnown,
            receivedAt: handler.now
        )
    }

    @inline(never)
    private func ended(
        _ call: VendorRequest,
        _ response: VendorResponse,
        _ record: CallRecord,
        _ hold: CallHold,
        _ match: VendorMounts.Match,
        _ started: ContinuousClock.Instant
    ) {
        capture(call, response, record, hold, match.adapter.vendor)
        // An upstream may answer with any status, so that only the hundreds are counted.
        let counted = hold.proxied == nil ? response.status : response.status / 100 * 100
        counts.count(match.adapter.vendor, match.route.name, counted)
        let isError = record.isUnloggedError(response.status)
        logger.log(
            level: isError ? .info : .debug,
            isError ? "vendor call refused" : "vendor call",
            metadata: [
                LogKey.reason: "\(record.reason ?? "none")", LogKey.peer: "\(call.remoteAddress ?? "?")",
                LogKey.vendor: "\(match.adapter.vendor)", LogKey.route: "\(match.route.name)",
                LogKey.status: "\(response.status)", LogKey.milliseconds: "\(started.duration(to: .now).milliseconds)",
            ]
        )
    }

    private static let hostField = HTTPField.Name("host")

    /// Restores the Host field, which HTTPTypes converts to `:authority`; adapters read the field.
    static func headersWithHost(_ request: Request) -> HTTPFields {
        var headers = request.headers
        if let host = hostField, !headers.contains(host), let authority = request.head.authority {
            headers[host] = authority
        }
        return headers
    }

    private func answer(
        _ call: inout VendorRequest,
        _ request: Request,
        _ match: VendorMounts.Match,
        _ channel: (any Channel)?,
        _ record: inout CallRecord,
        _ hold: inout CallHold
    ) async -> VendorResponse {
        let adapter = match.adapter
        guard match.methodFits else { return refused(.methodNotAllowed, call, adapter, &record) }
        // No client sends a fragment. The query would end there, so that an upstream got another one than the caller wrote.
        if request.head.path?.hasByte(UInt8(ascii: "#")) == true {
            return refused(.invalid, call, adapter, &record)
        }
        // RFC 9112 §3.2. HTTPTypes takes the first Host line out of the fields: a server in front may have admitted another one than the adapters would read.
        if let host = Self.hostField, request.head.authority != nil, request.headers.contains(host) {
            return refused(.invalid, call, adapter, &record)
        }
        do {
            let body = try await BodyReader.read(
                request,
                on: channel,
                from: limits.limiter.limited(call.remoteAddress),
                limitBytes: match.route.bodyLimitBytes,
                sharing: bodies
            ) { (bytes, beginning) async throws(BodyReader.Failure) in
                try await makeRoom(bytes, beginning, for: &call, adapter, &hold)
            }
            call.body = body
        } catch {
            return unread(error, call, adapter, &record)
        }
        if BodyInflater.isNeeded(call.headers) {
            let limitBytes = match.route.bodyLimitBytes
            let compressed = call
            hold.compressed = CompressedBody(call)
            // Few bodies need more than a small one, and only these wait for room.
            if let code = BodyInflater.inflate(&call, limitBytes: min(limitBytes, LargeBodies.smallBytes)) {
                guard code == .tooLarge, limitBytes > LargeBodies.smallBytes else {
                    return refused(code, call, adapter, &record)
                }
                call = compressed
                do throws(LimitExcess) {
                    let bytes = limitBytes + call.body.count
                    hold.room = try await bodies.room(bytes: bytes, address: call.remoteAddress)
                } catch { return limited(error, call, adapter, &record) }
                if let code = await BodyInflater.inflateLarge(&call, limitBytes: limitBytes) {
                    return refused(code, call, adapter, &record)
                }
            }
        }
        do throws(LimitExcess) {
            hold.values = try await bodies.room(valuesOf: call.body, query: call.query, address: call.remoteAddress)
        } catch {
            // Otherwise the answer would read it.
            call.body = []
            return limited(error, call, adapter, &record)
        }
        return await LargeBodies.steps(of: call.body) { await carryOut(call, adapter, &record, &hold, on: channel) }
    }

    /// Waits for room for a large body, whose beginning is read before: if that names a binding that does not exist, `call` gets its fields.
    @inline(never)
    private func makeRoom(
        _ bytes: Int,
        _ beginning: [UInt8],
        for call: inout VendorRequest,
        _ adapter: any VendorAdapter,
        _ hold: inout CallHold
    ) async throws(BodyReader.Failure) {
        do throws(LimitExcess) {
            hold.values = try await bodies.room(valuesOf: beginning, address: call.remoteAddress)
        } catch { throw .noRoom(error) }
        if let early = await unbound(call, beginning, adapter) {
            call = early
            throw .unwanted
        }
        hold.values?.release()
        do throws(LimitExcess) {
            hold.room = try await bodies.room(bytes: bytes, address: call.remoteAddress)
        } catch { throw .noRoom(error) }
    }

    /// The call with the fields of its beginning, if these name a binding that does not exist. Then the rest of a large body is not read.
    @inline(never)
    private func unbound(
        _ call: VendorRequest,
        _ beginning: [UInt8],
        _ adapter: any VendorAdapter
    ) async -> VendorRequest? {
        var call = call
        // Of a compressed body, only the address is known.
        call.body = BodyInflater.isNeeded(call.headers) ? [] : BodyBeginning.completed(beginning) ?? []
        guard let key = adapter.earlyKey(of: call) else { return nil }
        // If the store cannot answer, the call itself says so.
        do throws(StoreError) { return try await bound(key, of: nil, adapter) == nil ? call : nil } catch { return nil }
    }

    /// Processes a call whose body is complete. Its only side effects are those of the store.
    func carryOut(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ record: inout CallRecord,
        _ hold: inout CallHold,
        on channel: (any Channel)? = nil
    ) async -> VendorResponse {
        var call = call
        var settings = BindingSettings.unbound
        var shown: ShownProof?
        do throws(AdapterError) {
            let (key, caller) = try await isLarge(call) ? located(call, adapter) : adapter.locate(call)
            shown = limits.proof(call, key, caller, adapter)
            if let excess = shown?.refusal { return limited(excess, call, adapter, &record) }
            let binding: BoundCall?
            let verdict: SenderGate.Verdict
            do throws(StoreError) {
                let known = directory.remembered(key)
                binding = try await known == nil ? bound(key, of: call, adapter) : known ?? nil
                if let ruled = binding, ruled.routes != nil,
                    let answer = try await routed(&call, adapter, ruled, shown, &record, &hold)
                {
                    return answer
                }
                verdict = try await caller == .sender ? judged(call, adapter, binding, channel) : .unasked
            } catch { return await withoutStore(error, key, call, adapter, shown, &record, &hold) }
            guard let binding else { return unbound(call, adapter, shown, &record) }
            settings = binding.settings
            record.owner = CallRecord.Owner(tenant: binding.tenant, app: binding.app)
            if case .refused(let reason) = verdict {
                return refusedSender(reason, call, adapter, binding, shown, &record)
            }
            let commands = try await decoded(call, adapter, settings)
            limits.admitted(shown, by: verdict)
            let scope = scope(of: call, caller, adapter, binding, verdict)
            let names = CallNames([], isOfDevice: caller == .device)
            let order = forwardOrder(call, adapter, binding, followed: hold.followed)
            switch try await perform(commands, of: call, by: adapter, binding.userTokens, in: scope, names, order) {
            case .success(let replies):
                if let answer = await missed(replies, call, adapter, binding, shown, &record, &hold) { return answer }
                noteReceipts(replies, call, adapter, binding, hold)
                record.answered(replies)
                return adapter.encode(replies, for: call, settings: settings)
            case .failure(let excess): return limited(excess, call, adapter, &record, settings)
            }
        } catch {
            if record.owner == nil, let answer = await unplaced(call, adapter, &record, &hold) { return answer }
            if error.code == .unauthorized, error.field != Self.userTokenField {
                refusedCredential(adapter, record, isShown: shown != nil)
            }
            if error.code == .unauthorized, let excess = limits.failed(shown) {
                return limited(excess, call, adapter, &record, settings)
            }
            if error.hasTooManyValues { limits.limiter.refused(FixedLimit.bodyValues) }
            note(call, adapter, "\(error)")
            record.refused(error, isLogged: true)
            return adapter.refuse(error, for: call, settings: settings)
        }
    }

    @inline(never)
    private func scope(
        of call: VendorRequest,
        _ caller: CallerKind,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall,
        _ verdict: SenderGate.Verdict
    ) -> CallScope {
        CallScope(
            tenant: binding.tenant,
            app: binding.app,
            vendor: adapter.vendor,
            settings: binding.settings,
            remoteAddress: call.remoteAddress,
            isProvenSender: caller == .sender && verdict.isProven,
            provingKey: verdict.provingKey?.name,
            recipientsPerDay: verdict.provingKey?.recipientsPerDay
        ).traced(receipts != nil)
    }

    private func isLarge(_ call: VendorRequest) -> Bool { call.body.count > LargeBodies.smallBytes }

    private func located(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter
    ) async throws(AdapterError) -> (BindingKey, CallerKind) {
        try await LargeBodies.parse { () throws(AdapterError) in try adapter.locate(call) }
    }

    /// The commands of a call; of a large one on the thread for large bodies.
    private func decoded(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ settings: BindingSettings
    ) async throws(AdapterError) -> [Command] {
        guard isLarge(call) else { return withBodyHash(try adapter.decode(call, settings: settings), call.body) }
        return try await LargeBodies.parse { [self] () throws(AdapterError) -> [Command] in
            withBodyHash(try adapter.decode(call, settings: settings), call.body)
        }
    }

    /// Performs the commands of a call and their sequels.
    ///
    /// - Returns: the replies to the last commands, or the limit that the caller has reached.
    /// - Throws: the error of the adapter; `.unauthorized` for a wrong token of a user.
    private func perform(
        _ commands: [Command],
        of call: VendorRequest,
        by adapter: any VendorAdapter,
        _ tokens: UserTokenRules?,
        in scope: CallScope,
        _ earlier: CallNames,
        _ order: ForwardOrder?
    ) async throws(AdapterError) -> Swift.Result<[Reply], LimitExcess> {
        var earlier = earlier
        var commands = commands
        var order = order
        if let excess = try prove(&commands, of: call, adapter, tokens, scope) { return .failure(excess) }
        var result = await perform(commands, in: scope, after: earlier, order?.forwarding(with: commands))
        guard let multiStep = multiStep[scope.vendor] else { return result }
        earlier.add(commands)
        for _ in 0..<Self.sequelLimit {
            guard case .success(let replies) = result else { break }
            var sequel = try multiStep.sequel(to: replies, of: call, settings: scope.settings)
            if sequel.isEmpty { break }
            if let excess = try prove(&sequel, of: call, adapter, tokens, scope) { return .failure(excess) }
            let forwarding = order?.forwarding(with: sequel)
            result = await perform(withBodyHash(sequel, call.body), in: scope, after: earlier, forwarding)
            earlier.add(sequel)
        }
        return result
    }

    /// Marks registrations of a user as vouched if the call carries a valid token for the user.
    ///
    /// - Returns: the limit that the caller has reached by wrong tokens.
    /// - Throws: `AdapterError(.unauthorized)` for a wrong token.
    @inline(never)
    private func prove(
        _ commands: inout [Command],
        of call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ rules: UserTokenRules?,
        _ scope: CallScope
    ) throws(AdapterError) -> LimitExcess? {
        guard let gate = UserTokenGate(rules) else { return nil }
        switch gate.judge(commands, adapter.userToken(of: call), at: call.receivedAt) {
        case .unproven: return nil
        case .vouched(let proven):
            commands = proven
            return nil
        case .refused(let reason, let isFailure):
            note(call, adapter, reason)
            if isFailure { proofs.note(.userToken, adapter.vendor, of: scope.tenant, subject: "app \(scope.app)") }
            if isFailure, let excess = limits.failedToken(from: call.remoteAddress) { return excess }
            throw AdapterError(.unauthorized, field: Self.userTokenField)
        }
    }

    private static let userTokenField = "user token"

    /// Counts a wrong credential of the dialect; without a binding, only if the call showed one.
    @inline(never)
    func refusedCredential(_ adapter: any VendorAdapter, _ record: CallRecord, isShown: Bool) {
        guard isShown || record.owner != nil else { return }
        proofs.note(
            .credential,
            adapter.vendor,
            of: record.owner?.tenant,
            subject: record.owner.map { "app \($0.app)" }
        )
    }

    /// Six sequels: three attempts of a read and a write. After three conflicts, the answer asks the caller to retry.
    private static let sequelLimit = 6

    /// Performs commands within the limits of their caller.
    private func perform(
        _ commands: [Command],
        in scope: CallScope,
        after earlier: CallNames,
        _ forwarding: CallForwarding?
    ) async -> Swift.Result<[Reply], LimitExcess> {
        guard let limited = limitedCall(commands, isOfDevice: earlier.isOfDevice, scope) else {
            return .success(await carriedOut(commands, scope, forwarding))
        }
        let reserved: Bool
        switch limits.admission(limited.names, limited.caller, after: earlier) {
        case .admitted(let isReserved): reserved = isReserved
        case .refused(let excess): return .failure(excess)
        case .ifKnown(let excess):
            // The address is limited, so that this look-up costs less than what it prevents.
            let asked = limited.names.exempting
            let replies = await handler.perform(asked.map(\.lookUp), in: scope).replies
            let known = Set(zip(asked, replies).filter { CallNames.Identity.isKnown($0.1) }.map { $0.0 })
            guard limited.names.isExempt({ known.contains($0) }) else { return .failure(excess) }
            if let excess = limits.takeOwn(limited.names, limited.caller, after: earlier) { return .failure(excess) }
            reserved = false
        }
        let replies = await carriedOut(commands, scope, forwarding)
        limits.settle(limited.names, replies, reserved: reserved, limited.caller)
        return .success(replies)
    }

    private func carriedOut(_ commands: [Command], _ scope: CallScope, _ forwarding: CallForwarding?) async -> [Reply] {
        let result = await handler.perform(commands, in: scope, forwarding: forwarding)
        if !result.handover.isEmpty { handOver(result.handover) }
        limits.report(result.replies, of: scope.app, in: scope.tenant)
        receipts?.note(commands, result.replies, in: scope)
        return result.replies
    }

    /// The facts on which the limits of a call depend. Nil: none apply, because the caller is a proven back end or the commands name no device, user or phone.
    @inline(never)
    private func limitedCall(
        _ commands: [Command],
        isOfDevice: Bool,
        _ scope: CallScope
    ) -> (names: CallNames, caller: VendorLimits.Caller)? {
        guard !scope.isProvenSender, limits.limiter.applies(to: scope.remoteAddress) else { return nil }
        let names = CallNames(commands, isOfDevice: isOfDevice)
        guard !names.isEmpty else { return nil }
        let caller = VendorLimits.Caller(
            address: scope.remoteAddress,
            tenant: scope.tenant,
            scope: AppScope(app: scope.app, vendor: scope.vendor)
        )
        return (names, caller)
    }

    /// Whether a caller of kind `CallerKind.sender` may send. A call without a binding passes.
    ///
    /// - Throws: `StoreError` when the store cannot answer now.
    private func judged(
        _ call: VendorRequest,
        _ adapter: any VendorAdapter,
        _ binding: BoundCall?,
        _ channel: (any Channel)?
    ) async throws(StoreError) -> SenderGate.Verdict {
        guard let binding else { return .unasked }
        var call = call
        if let certificates, let channel, !binding.senders.certificates.isEmpty {
            call.certificate = await certificates.certificate(of: channel)
        }
        let gate = SenderGate(call, adapter.senders, binding)
        return try await gate.judge(in: binding.tenant) { (key) async throws(StoreError) in
            try await directory.apiKey(key)
        }
    }
}
