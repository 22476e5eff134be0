import CQRCode

/// A QR code for a terminal (ISO/IEC 18004), two modules in one character.
enum QRCode {
    /// White around it, in modules; the standard asks for four, and phones are content with two.
    private static let margin = 2

    /// Its lines; none when the text is too long.
    static func lines(of text: String) -> [String] {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { return [] }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        func isDark(_ x: Int, _ y: Int) -> Bool {
            (0..<width).contains(x) && (0..<width).contains(y) && code.pointee.data[y * width + x] & 1 == 1
        }
        // The text is light on dark in most terminals, so what is light is drawn.
        return stride(from: -margin, to: width + margin, by: 2).map { y in
            String(
                (-margin..<width + margin).map { x -> Character in
                    switch (isDark(x, y), isDark(x, y + 1)) {
                    case (false, false): "█"
                    case (false, true): "▀"
                    case (true, false): "▄"
                    case (true, true): " "
                    }
                })
        }
    }
}
