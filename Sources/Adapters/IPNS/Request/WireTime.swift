package import Model

/// A time in this vendor's format: `yyyyMMddHHmmss` in the time zone of Seoul (docs/contracts/ipns.md#2.4).
package enum WireTime {
    /// `20200115090000`.
    package static func text(_ time: Timestamp) -> String {
        LocalTime(time, in: IPNSSettings.timeZone).description.filter { $0.isNumber }
    }

    /// The time; nil for any other text.
    package static func parse(_ text: String) -> Timestamp? {
        let digits = Array(text)
        guard digits.count == 14, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        func part(_ range: Range<Int>) -> String { String(digits[range]) }
        let date = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
        return LocalTime("\(date)T\(part(8..<10)):\(part(10..<12)):\(part(12..<14))")?
            .moment(in: IPNSSettings.timeZone)
    }
}
