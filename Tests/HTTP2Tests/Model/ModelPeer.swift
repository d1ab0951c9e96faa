import TestKit

/// A server with the worst behavior that Apple's servers might have. It reads and writes frames without a library, and records
/// which requests it has processed.
///
/// It does no I/O: bytes in, bytes out, and every choice comes from the caller's generator.
final class ModelPeer {
    struct Stream {
        let id: Int32
        let slot: UInt64
        var bodyCount = 0
        /// True if the client has sent the whole request.
        var isComplete = false
        /// True if the request is intentionally never answered.
        var isSilent = false
    }

    /// The peer's handling of a request, to which the client's outcome is compared.
    struct Deed: Equatable {
        var isProcessed = false
        var status: Int?
    }

    private let decoder: FieldDecoder
    private var input: [UInt8] = []
    private var hasPreface = false
    private(set) var output: [UInt8] = []
    /// In the order in which they were opened. No dictionary is iterated, because its order differs from run to run.
    private(set) var open: [Stream] = []
    private(set) var deeds: [UInt64: Deed] = [:]
    /// Rule violations of the client.
    private(set) var violations: [String] = []
    private(set) var streamCount = 0
    private var lastStream: Int32 = 0
    /// After a GOAWAY, streams above this one are ignored.
    private var lastServed = Int32.max
    /// The limit that the client has acknowledged, and the limits that it has not acknowledged yet.
    private var ackedLimit: Int
    private var sentLimits: [Int?] = []
    private var highestProcessed: Int32 = 0
    private var window = 65_535
    private var ownWindow = 0
    private var isStarving = false

    struct NoDecoder: Error {}

    /// - Parameters:
    ///   - initialLimit: the number of streams that the client may open before it has read the peer's SETTINGS.
    ///   - limit: the limit in these SETTINGS.
    /// - Throws: `NoDecoder` without memory.
    init(initialLimit: Int, limit: Int) throws {
        guard let decoder = FieldDecoder() else { throw NoDecoder() }
        self.decoder = decoder
        ackedLimit = initialLimit
        setLimit(limit)
    }

    func takeOutput() -> [UInt8] {
        defer { output = [] }
        return output
    }

    // MARK: Reading

    func receive(_ bytes: ArraySlice<UInt8>) {
        input += bytes
        if !hasPreface {
            guard input.count >= Frame.preface.count else { return }
            if !input.starts(with: Frame.preface) { violations.append("no preface") }
            input.removeFirst(Frame.preface.count)
            hasPreface = true
        }
        var offset = 0
        while let length = frameLength(at: offset), input.count >= offset + Frame.headerBytes + length {
            let body = input[(offset + Frame.headerBytes)..<(offset + Frame.headerBytes + length)]
            read(kind: input[offset + 3], flags: input[offset + 4], stream: streamID(at: offset), Array(body))
            offset += Frame.headerBytes + length
        }
        input.removeFirst(offset)
    }

    private func frameLength(at offset: Int) -> Int? {
        guard input.count >= offset + Frame.headerBytes else { return nil }
        return Int(input[offset]) << 16 | Int(input[offset + 1]) << 8 | Int(input[offset + 2])
    }

    private func streamID(at offset: Int) -> Int32 {
        input[(offset + 5)..<(offset + 9)].reduce(Int32(0)) { $0 << 8 | Int32($1) } & Int32.max
    }

    private func read(kind: UInt8, flags: UInt8, stream: Int32, _ payload: [UInt8]) {
        switch Frame.Kind(rawValue: kind) {
        case .headers: requestBegan(stream, flags, payload)
        case .data: bodyCame(stream, flags, payload)
        case .resetStream: open.removeAll { $0.id == stream }
        case .settings: settingsCame(flags)
        case .ping:
            if flags & Frame.Flag.ack == 0 { output += Frame.make(.ping, flags: Frame.Flag.ack, payload) }
        case .goAway, .windowUpdate, .priority: break
        case .continuation, .pushPromise, nil: violations.append("frame of kind \(kind)")
        }
    }

    private func settingsCame(_ flags: UInt8) {
        guard flags & Frame.Flag.ack != 0 else {
            output += Frame.make(.settings, flags: Frame.Flag.ack)
            return
        }
        guard !sentLimits.isEmpty else { return violations.append("acknowledged SETTINGS that were not sent") }
        if let limit = sentLimits.removeFirst() { ackedLimit = limit }
    }

    private func requestBegan(_ stream: Int32, _ flags: UInt8, _ payload: [UInt8]) {
        let skip = flags & Frame.Flag.priority != 0 ? 5 : 0
        guard let fields = decoder.fields(Array(payload.dropFirst(skip))) else {
            return violations.append("a header block that cannot be read")
        }
        if stream <= lastStream || stream % 2 == 0 { violations.append("stream \(stream) after \(lastStream)") }
        lastStream = max(lastStream, stream)
        streamCount += 1
        let allowed = sentLimits.compactMap(\.self).reduce(ackedLimit, max)
        if open.count >= allowed { violations.append("stream \(stream) is above the limit of \(allowed)") }
        guard let slot = ModelRequest.slot(of: fields) else { return violations.append("fields \(fields)") }
        guard deeds[slot] == nil else { return violations.append("request \(slot) came twice") }
        deeds[slot] = Deed()
        guard stream <= lastServed else { return }
        let isComplete = flags & Frame.Flag.endStream != 0
        open.append(Stream(id: stream, slot: slot, isComplete: isComplete))
        if isComplete, ModelRequest.bodyCount(slot) != 0 { violations.append("request \(slot) lost its body") }
    }

    private func bodyCame(_ stream: Int32, _ flags: UInt8, _ payload: [UInt8]) {
        window -= payload.count
        ownWindow += payload.count
        if window < 0 { violations.append("the connection's window is overdrawn by \(-window)") }
        guard let place = open.firstIndex(where: { $0.id == stream }) else { return }
        let slot = open[place].slot
        if payload.contains(where: { $0 != ModelRequest.byte(slot) }) {
            violations.append("request \(slot) has another's body")
        }
        open[place].bodyCount += payload.count
        guard flags & Frame.Flag.endStream != 0 else { return }
        open[place].isComplete = true
        if open[place].bodyCount != ModelRequest.bodyCount(slot) { violations.append("request \(slot) was cut") }
    }

    // MARK: Acting

    /// One act, usually an answer.
    func act(_ random: inout SplitMix) {
        refill(&random)
        switch Int.random(in: 0..<1_000, using: &random) {
        case 0..<700: answerSome(&random)
        case 700..<740: withStream(&random) { refuse($0) }
        case 740..<780: resetOne(&random)
        case 780..<800: withStream(&random) { open[$0].isSilent = true }
        case 800..<830: setLimit([0, 1, 1, 2, 10, 100, 1_000].randomElement(using: &random) ?? 1)
        case 830..<850: setWindow([0, 1, 100, 65_535, 1_000_000].randomElement(using: &random) ?? 0)
        case 850..<870: isStarving.toggle()
        case 870..<900: answerOddly(&random)
        case 900..<920: output += Frame.make(.ping, [1, 2, 3, 4, 5, 6, 7, 8])
        case 920..<930: output += Frame.make(UInt8.random(in: 10...255, using: &random), [1, 2, 3])
        case 930..<936: goAway(&random)
        case 936..<939: breakRules(&random)
        default: break
        }
    }

    private func withStream(_ random: inout SplitMix, _ body: (Int) -> Void) {
        guard !open.isEmpty else { return }
        body(Int.random(in: open.indices, using: &random))
    }

    private func answerSome(_ random: inout SplitMix) {
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            // Usually in order, sometimes not, and sometimes before the request is complete.
            let isEarly = Int.random(in: 0..<50, using: &random) == 0
            let ready = open.indices.filter { !open[$0].isSilent && (isEarly || open[$0].isComplete) }
            guard let place = ready.prefix(5).randomElement(using: &random) else { return }
            answer(place, &random)
        }
    }

    private func answer(_ place: Int, _ random: inout SplitMix) {
        let stream = open[place]
        let status = [200, 200, 200, 200, 400, 410, 429, 500, 503].randomElement(using: &random) ?? 200
        process(stream, status: status)
        let fields = [("x-slot", String(stream.slot))]
        if Int.random(in: 0..<20, using: &random) == 0 {
            output += Frame.headers(stream.id, status: 103, isLast: false)
        }
        if status == 200 {
            output += Frame.headers(stream.id, status: status, fields, isLast: true)
        } else {
            output += Frame.headers(stream.id, status: status, fields, isLast: false)
            output += Frame.data(stream.id, Array(#"{"reason":"X"}"#.utf8), isLast: true)
        }
        // RFC 9113 §8.1: a complete answer may be followed by a reset, to stop the rest of the request.
        if !stream.isComplete { output += Frame.resetStream(stream.id, 0) }
        open.remove(at: place)
    }

    /// Answers that are repeated or incomplete.
    private func answerOddly(_ random: inout SplitMix) {
        guard let place = open.indices.filter({ open[$0].isComplete }).randomElement(using: &random) else { return }
        let stream = open[place].id
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            answer(place, &random)
            output += Frame.headers(stream, status: 500, isLast: true)
        case 1:
            answer(place, &random)
            output += Frame.resetStream(stream, 8)
        case 2:
            // Only the header fields, without the rest.
            process(open[place])
            output += Frame.headers(stream, status: 200, isLast: false)
            open[place].isSilent = true
        default:
            answer(place, &random)
            output += Frame.data(stream, [1, 2, 3], isLast: true)
        }
    }

    private func process(_ stream: Stream, status: Int? = nil) {
        deeds[stream.slot] = Deed(isProcessed: true, status: status)
        highestProcessed = max(highestProcessed, stream.id)
    }

    private func refuse(_ place: Int) {
        output += Frame.resetStream(open[place].id, 7)
        open.remove(at: place)
    }

    private func resetOne(_ random: inout SplitMix) {
        guard let place = open.indices.randomElement(using: &random) else { return }
        var code = UInt32.random(in: 0...14, using: &random)
        if code == 7 { code = 0xFFFF_FFFF }
        // Only REFUSED_STREAM guarantees that the request was not processed; with other codes it may have been.
        if Bool.random(using: &random) { process(open[place]) }
        output += Frame.resetStream(open[place].id, code)
        open.remove(at: place)
    }

    /// A GOAWAY with the last stream id, with a lower one, or with none (2^31 - 1, RFC 9113 §6.8); once or
    /// repeatedly.
    private func goAway(_ random: inout SplitMix) {
        let candidates = [Int32.max, lastStream, max(0, lastStream - 2), max(0, lastStream - 10), 0]
        let last = candidates.randomElement(using: &random) ?? lastStream
        // The id never increases again, and is never below a processed stream.
        lastServed = max(min(lastServed, last), highestProcessed)
        output += Frame.goAway(last: lastServed, UInt32.random(in: 0...13, using: &random), Array("{}".utf8))
        open.removeAll { $0.id > lastServed }
    }

    private func breakRules(_ random: inout SplitMix) {
        // The id is far above those that the client can have opened meanwhile, because an answer to one of those
        // would be valid.
        let stream = lastStream + 100_000
        let wrong = [
            Frame.windowUpdate(0, 0x7FFF_FFFF), Frame.windowUpdate(0, 0), Frame.make(.data, stream: 0, [1]),
            Frame.headers(stream, status: 200, isLast: true), Frame.make(.settings, stream: 1, []),
            Frame.make(.ping, [1]), Frame.make(.continuation, stream: 1, []), Frame.make(.goAway, [0]),
            Frame.make(.headers, flags: 5, stream: max(1, lastStream), [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]),
            [0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1],
        ]
        output += wrong.randomElement(using: &random) ?? []
        // If the first of them meets a window of 0, it is valid.
        window += 0x7FFF_FFFF
    }

    // MARK: Limits and windows

    private func setLimit(_ limit: Int) {
        sentLimits.append(limit)
        output += Frame.settings([(Frame.Setting.maxConcurrentStreams, UInt32(limit))])
    }

    private func setWindow(_ bytes: UInt32) {
        sentLimits.append(nil)
        output += Frame.settings([(Frame.Setting.initialWindowSize, bytes)])
    }

    private func refill(_ random: inout SplitMix) {
        let isDue = ownWindow > 20_000 || Int.random(in: 0..<10, using: &random) == 0
        guard !isStarving, isDue, ownWindow > 0 else { return }
        output += Frame.windowUpdate(0, UInt32(ownWindow))
        window += ownWindow
        ownWindow = 0
        for stream in open where !stream.isComplete { output += Frame.windowUpdate(stream.id, 5_000) }
    }
}
