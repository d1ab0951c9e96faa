/// Recognizes kinds of text by their characters. Each rule looks at every character once.
enum Shape {
    static func isDigit(_ scalar: Unicode.Scalar) -> Bool { (0x30...0x39).contains(scalar.value) }
    private static func isUpper(_ scalar: Unicode.Scalar) -> Bool { (0x41...0x5A).contains(scalar.value) }
    private static func isLower(_ scalar: Unicode.Scalar) -> Bool { (0x61...0x7A).contains(scalar.value) }
    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { isUpper(scalar) || isLower(scalar) }

    static func isHex(_ scalars: [Unicode.Scalar]) -> Bool {
        scalars.allSatisfy { isDigit($0) || (0x41...0x46).contains($0.value) || (0x61...0x66).contains($0.value) }
    }

    static func isUUID(_ scalars: [Unicode.Scalar]) -> Bool {
        guard scalars.count == 36 else { return false }
        for (index, scalar) in scalars.enumerated() {
            let isHyphen = [8, 13, 18, 23].contains(index)
            guard isHyphen ? scalar == "-" : isHex([scalar]) else { return false }
        }
        return true
    }

    static func isEmail(_ scalars: [Unicode.Scalar]) -> Bool {
        guard scalars.count <= 254, let at = scalars.firstIndex(of: "@"), at > 0 else { return false }
        return scalars[at...].contains(".") && !scalars.contains(where: \.properties.isWhitespace)
    }

    /// At least sixteen letters of base64 or base64url.
    static func isBase64(_ scalars: [Unicode.Scalar]) -> Bool {
        scalars.count >= 16
            && scalars.allSatisfy { isLetter($0) || isDigit($0) || "+/=-_".unicodeScalars.contains($0) }
    }

    /// Eight to fifteen digits (E.164) that begin like a phone number.
    static func isPhone(_ scalars: [Unicode.Scalar]) -> Bool {
        guard let first = scalars.first, scalars.count <= 24 else { return false }
        let digits = scalars.count(where: isDigit)
        guard (8...15).contains(digits), scalars.allSatisfy({ isDigit($0) || "+-() .".unicodeScalars.contains($0) })
        else {
            return false
        }
        return first == "+" || first == "0" || first == "(" || scalars.contains("-")
    }

    // MARK: Harmless texts

    private static let words: Set = [
        "true", "false", "yes", "no", "null", "on", "off", "none", "ios", "android", "apns", "gcm", "fcm", "iphone",
        "ipad", "production", "sandbox", "dev", "real", "release", "debug", "utf-8", "guest", "euc-kr", "all",
    ]

    /// A flag, a short code, a version or a time.
    static func isHarmless(_ scalars: [Unicode.Scalar], _ text: String) -> Bool {
        let count = scalars.count
        guard count <= 32 else { return false }
        let digits = scalars.first == "-" ? scalars[1...] : scalars[...]
        if (1...5).contains(digits.count), digits.allSatisfy(isDigit) { return true }
        if count <= 4, scalars.allSatisfy({ isUpper($0) || isDigit($0) || $0 == "@" || $0 == "_" }) { return true }
        return words.contains(text.lowercased()) || isVersion(scalars) || isTime(scalars)
    }

    /// `4.0EE`, `18.1`, `1.2.3`: two or three groups, because four could be an IP address.
    private static func isVersion(_ scalars: [Unicode.Scalar]) -> Bool {
        let groups = scalars.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(groups.count), let last = groups.last else { return false }
        let tail = last.drop(while: isDigit)
        guard tail.count <= 2, tail.allSatisfy(isUpper) else { return false }
        let numbers = groups.dropLast() + [last.prefix(while: isDigit)]
        return numbers.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy(isDigit) }
    }

    /// `yyyyMMddHHmmss`, or a date with separators at the start. Times are shown because they reveal which time zone a vendor uses.
    private static func isTime(_ scalars: [Unicode.Scalar]) -> Bool {
        guard scalars.count >= 10, scalars[0] == "2", scalars[1] == "0" else { return false }
        func number(_ range: Range<Int>) -> Int {
            scalars[range].reduce(0) { isDigit($1) ? $0 * 10 + Int($1.value - 0x30) : 99 }
        }
        if scalars.count == 14 {
            return scalars.allSatisfy(isDigit) && (1...12).contains(number(4..<6)) && (1...31).contains(number(6..<8))
                && number(8..<10) < 24 && number(10..<12) < 60
        }
        guard isDigit(scalars[2]), isDigit(scalars[3]), "-/.".unicodeScalars.contains(scalars[4]),
            scalars[7] == scalars[4], (1...12).contains(number(5..<7)), (1...31).contains(number(8..<10))
        else { return false }
        return scalars.count == 10 || isTimeOfDay(Array(scalars[10...]))
    }

    /// `T22:15:00.123+09:00` and shorter forms. Longer texts are refused, because a phone number could follow the date.
    private static func isTimeOfDay(_ scalars: [Unicode.Scalar]) -> Bool {
        guard scalars.count >= 6, "T ".unicodeScalars.contains(scalars[0]), scalars[3] == ":",
            [1, 2, 4, 5].allSatisfy({ isDigit(scalars[$0]) })
        else { return false }
        let rest = scalars[6...]
        guard rest.allSatisfy({ isDigit($0) || "Z:.+-".unicodeScalars.contains($0) }) else { return false }
        let signs = rest.count { "+-".unicodeScalars.contains($0) }
        return signs <= 1 && rest.split(whereSeparator: { !isDigit($0) }).allSatisfy { $0.count <= 6 }
    }

    /// At least 32 letters and digits without a separator: longer than any word of a language.
    static func holdsToken(_ scalars: [Unicode.Scalar]) -> Bool {
        scalars.split(whereSeparator: { !isLetter($0) && !isDigit($0) }).contains { $0.count >= 32 }
    }

    /// 48 characters: longer than any vendor's field name, shorter than most secrets.
    private static let nameLimit = 48

    /// A name that a person gave to a field or a path: letters with few capital letters inside, and few digits. Ids and tokens do not match.
    static func isName(_ scalars: [Unicode.Scalar]) -> Bool {
        guard let first = scalars.first, scalars.count <= nameLimit,
            isLetter(first) || "_$@".unicodeScalars.contains(first)
        else { return false }
        if scalars.count >= 16, isHex(scalars) { return false }
        var (run, humps, switches, digits) = (0, 0, 0, 0)
        var last = first
        for scalar in scalars {
            guard isLetter(scalar) || isDigit(scalar) || "_-.$@:[]".unicodeScalars.contains(scalar) else {
                return false
            }
            if isLower(last), isUpper(scalar) { humps += 1 }
            if isLetter(scalar) != isLetter(last), isDigit(scalar) || isDigit(last) { switches += 1 }
            run = isLetter(scalar) ? run + 1 : 0
            if isDigit(scalar) { digits += 1 }
            guard run <= 32 else { return false }
            last = scalar
        }
        return humps <= 1 + scalars.count / 4 && switches <= 3 && digits <= 4 && !isEmail(scalars)
    }
}
