import HTTPTypes
import Model

/// The parameters of one call, from a form, a multipart form, or the query. They are the same for all calls (docs/contracts/upmc.md#1.3).
struct Parameters {
    private var values: [String: [String]] = [:]
    private var files: [String: [UInt8]] = [:]

    /// No parameters, for a body that could not be read.
    init() {}

    /// The parameters of the query, then those of the body, which take precedence.
    ///
    /// - Throws: `AdapterError(.unreadable)` for a body that is not a form, or has more fields than the limit.
    init(_ request: VendorRequest) throws(AdapterError) {
        if let query = request.query {
            guard query.utf8.count <= UPMCLimits.queryBytes else { throw AdapterError(.tooLarge) }
            try add(form: Array(query.utf8)[...])
        }
        guard !request.body.isEmpty else { return }
        let type = request.headers[.contentType] ?? ""
        if type.lowercased().hasPrefix("multipart/form-data") {
            let parts = try MultipartBody.parse(request.body, contentType: type)
            for part in parts { try add(part) }
        } else {
            // Any other content type is read as a form: a known sender misspells the header (docs/contracts/upmc.md#1.9.1).
            try add(form: request.body[...])
        }
    }

    private mutating func add(form: ArraySlice<UInt8>) throws(AdapterError) {
        let pairs = form.split(separator: UInt8(ascii: "&"), maxSplits: UPMCLimits.fieldCount)
        guard pairs.count <= UPMCLimits.fieldCount else { throw AdapterError(.unreadable) }
        for pair in pairs {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first.flatMap({ PercentCoding.decode($0, plusIsSpace: true) }),
                let value = halves.count > 1 ? PercentCoding.decode(halves[1], plusIsSpace: true) : ""
            else { throw AdapterError(.unreadable) }
            values[name, default: []].append(value)
        }
    }

    private mutating func add(_ part: MultipartBody.Part) throws(AdapterError) {
        if part.isFile {
            files[part.name] = part.bytes
            return
        }
        guard let text = String(validating: part.bytes, as: UTF8.self) else { throw AdapterError(.unreadable) }
        values[part.name, default: []].append(text)
    }

    /// Other names of a parameter (docs/contracts/upmc.md#1.8).
    private static let aliases: [String: [String]] = [
        "APP_ID": ["APPID", "APPLICATION_ID"],
        "DEVICE_ID": ["DVC_ID", "UUID", "DEVICE_UUID"],
        "DEVICE_TYPE": ["DVC_TYP"],
        "PNSID": ["PNS_ID"],
        "CBSID": ["CBS_ID"],
        "CNAME": ["USER_NM", "CLIENT_NAME"],
        "PHONENUM": ["USER_HP", "PHONE_NUMBER", "PHONENO"],
        "CUID": ["CLIENT_UID"],
        "PUSHKEY": ["KEY_PUSH_KEY"],
    ]

    /// All values of a parameter that are not empty, in order.
    func all(_ name: String) -> [String] {
        ([name] + (Self.aliases[name] ?? [])).flatMap { values[$0] ?? [] }.filter { !$0.isEmpty }
    }

    /// Whether the parameter is present, even if it is empty.
    func has(_ name: String) -> Bool { ([name] + (Self.aliases[name] ?? [])).contains { values[$0] != nil } }

    func file(_ name: String) -> [UInt8]? { files[name] }

    /// The last value; nil if it is absent or empty.
    ///
    /// - Throws: `AdapterError(.invalid)` if it is longer than `limit` bytes or contains a NUL, which PostgreSQL cannot store.
    func text(_ name: String, limit: Int = UPMCLimits.identifierBytes) throws(AdapterError) -> String? {
        guard let text = all(name).last else { return nil }
        guard text.utf8.count <= limit, !text.hasByte(0) else { throw AdapterError(.invalid, field: name) }
        return text
    }

    /// - Throws: `AdapterError(.missing)` if it is absent, and the errors of `text`.
    func required(_ name: String, limit: Int = UPMCLimits.identifierBytes) throws(AdapterError) -> String {
        guard let text = try text(name, limit: limit) else { throw AdapterError(.missing, field: name) }
        return text
    }

    /// - Throws: `AdapterError(.invalid)` if it is not a whole number.
    func integer(_ name: String) throws(AdapterError) -> Int? {
        guard let text = try text(name) else { return nil }
        guard let value = Int(text) else { throw AdapterError(.invalid, field: name) }
        return value
    }

    /// `Y`, in either case.
    func flag(_ name: String) -> Bool { all(name).last?.lowercased() == "y" }

    /// The text by which an answer repeats the parameter; empty if it cannot be repeated. It never fails, because error answers use it too.
    func echo(_ name: String) -> String {
        guard let text = all(name).last, text.utf8.count <= UPMCLimits.tokenBytes else { return "" }
        return text
    }
}
