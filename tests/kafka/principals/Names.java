// Lines of hexadecimal UTF-8, each a distinguished name -> X500Principal.getName() in the same form,
// or an empty line for what is no name.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import javax.security.auth.x500.X500Principal;

public class Names {
    public static void main(String[] arguments) throws Exception {
        HexFormat hex = HexFormat.of();
        BufferedReader input =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        StringBuilder output = new StringBuilder();
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String name = new String(hex.parseHex(line), StandardCharsets.UTF_8);
            String written = "";
            try {
                written = new X500Principal(name).getName();
            } catch (IllegalArgumentException refused) {
                // An empty line.
            }
            output.append(hex.formatHex(written.getBytes(StandardCharsets.UTF_8))).append('\n');
        }
        System.out.print(output);
    }
}
