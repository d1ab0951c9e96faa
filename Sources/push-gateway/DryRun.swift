import Model

/// The output of `send --dry-run`: for each dialect the headers as they would be sent, and then the payload.
enum DryRun {
    /// - Parameter previews: `previews` of `POST /v1/messages?preview=true`.
    /// - Returns: one paragraph per dialect.
    static func text(_ previews: JSONObject) -> String {
        previews.pairs.map { entry($0.key, $0.value) }.joined(separator: "\n\n")
    }

    private static func entry(_ dialect: String, _ preview: JSON) -> String {
        if let error = preview["error"]?.string { return "# \(dialect): \(error)" }
        let bytes = preview["bytes"]?.int ?? 0
        var lines = ["# \(dialect), \(bytes) bytes"]
        if let refused = preview["refused"]?.string { lines.append("# refused: \(refused)") }
        for field in preview["reduced"]?.array ?? [] { lines.append("# cut to fit: \(field.string ?? "")") }
        lines += (preview["headers"]?.object?.pairs ?? []).map { "\($0.key): \($0.value.string ?? "")" }
        lines += ["", preview["payload"].map(JSONWriter.text) ?? ""]
        return lines.joined(separator: "\n")
    }
}
