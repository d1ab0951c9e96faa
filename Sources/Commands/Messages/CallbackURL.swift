import Model

/// Checks whether a text may be stored as a callback URL. Only its form is checked; the address behind the name is checked at every call.
enum CallbackURL {
    static func isAcceptable(_ text: String) -> Bool {
        guard text.utf8.count <= CommandLimits.urlBytes,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
            let rest = afterScheme(text)
        else { return false }
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // User and password would appear in logs and would be sent to the receiver.
        guard !authority.isEmpty, !authority.contains("@") else { return false }
        return hasHostAndPort(authority)
    }

    private static func afterScheme(_ text: String) -> Substring? {
        let lowered = text.lowercased()
        for scheme in ["https://", "http://"] where lowered.hasPrefix(scheme) {
            return text.dropFirst(scheme.count)
        }
        return nil
    }

    private static func hasHostAndPort(_ authority: Substring) -> Bool {
        var port: Substring?
        var host = authority
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return false }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        guard !host.isEmpty, !CallbackHost.isObscureAddress(host) else { return false }
        guard let port else { return true }
        return port.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } && (UInt16(port) ?? 0) > 0
    }
}
