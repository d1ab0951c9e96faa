package import PageParts

/// Which passwords a person may choose.
package enum PasswordRules {
    /// 12 characters (NIST SP 800-63B asks for 8, and for 15 where nothing else proves a person).
    package static let leastCharacters = 12
    /// 1,024 bytes: a longer one proves nothing in addition, and costs time.
    package static let limitBytes = 1024

    /// The reason why a password may not be chosen; nil: it may.
    package static func fault(_ password: String, name: String) -> Text? {
        guard password.count >= leastCharacters else {
            return Text(
                ko: "비밀번호는 \(leastCharacters)자 이상이어야 합니다.",
                en: "The password must have at least \(leastCharacters) characters."
            )
        }
        guard password.utf8.count <= limitBytes else {
            return Text(
                ko: "비밀번호는 \(limitBytes)바이트 이하여야 합니다.",
                en: "The password must have at most \(limitBytes) bytes."
            )
        }
        let plain = password.lowercased()
        let bare = String(plain.filter { $0.isLetter })
        let isGuessable =
            CommonPasswords.list.contains(plain) || CommonPasswords.words.contains(bare) || Set(plain).count < 5
            || isRun(plain) || (name.count >= 4 && plain.contains(name.lowercased()))
        guard isGuessable else { return nil }
        return Text(
            ko: "자주 쓰이거나 추측하기 쉬운 비밀번호입니다. 다른 비밀번호를 사용하세요.",
            en: "This password is common or easy to guess. Choose another one."
        )
    }

    /// Whether every character follows the one before it: `abcdefghijkl`, `123456789012`.
    private static func isRun(_ text: String) -> Bool {
        let values = text.unicodeScalars.map { Int($0.value) }
        let steps = zip(values, values.dropFirst()).map { $1 - $0 }
        return !steps.isEmpty && steps.count { $0 == 1 || $0 == -9 || $0 == -1 || $0 == 9 } == steps.count
    }
}

/// Passwords of twelve and more characters that lists of leaked passwords contain, and words that become one by appended digits.
enum CommonPasswords {
    static let list: Set<String> = [
        "123456789012", "1234567890123", "12345678901234", "123456789012345", "1q2w3e4r5t6y", "1q2w3e4r5t6y7u",
        "1qaz2wsx3edc", "1qaz2wsx3edc4rfv", "qwertyuiop12", "qwertyuiop123", "qwerty123456", "qwerty1234567",
        "asdfghjkl123", "zxcvbnm12345", "password1234", "password12345", "password123456", "passw0rd1234",
        "p@ssw0rd1234", "p@ssword1234", "admin1234567", "administrator", "administrator1", "welcome12345",
        "letmein12345", "iloveyou1234", "iloveyou12345", "changeme1234", "changemenow1", "abcd12345678",
        "abc123456789", "a1b2c3d4e5f6", "aa1234567890", "qwer1234qwer", "qwer1234asdf", "asdf1234qwer",
        "1234qwer1234", "1234qwerasdf", "q1w2e3r4t5y6", "zaq12wsxcde3", "zaq1xsw2cde3", "1111aaaa2222",
        "dkssudgktpdy", "tkfkdgody123", "rlawlsdnr123", "qlalfqjsgh12", "correcthorsebatterystaple",
        "correct horse battery staple", "mypassword123", "trustno1trustno1", "monkey123456", "dragon123456",
        "football1234", "baseball1234", "superman1234", "sunshine1234", "princess1234", "computer1234",
    ]
    static let words: Set<String> = [
        "password", "passwd", "passphrase", "administrator", "admin", "welcome", "letmein", "iloveyou", "changeme",
        "qwerty", "qwertyuiop", "asdfghjkl", "zxcvbnm", "monkey", "dragon", "pushgateway", "gateway", "console",
        "secret", "master", "company", "비밀번호", "관리자",
    ]
}
