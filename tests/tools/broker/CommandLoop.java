import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;

import org.apache.kafka.common.utils.Exit;

/**
 * Runs the main methods of Kafka's tools one after the other, for a JVM takes longer to start than
 * they take to run. In: how many words, then each with its length before it, the first of them the
 * class. Out: the exit code, and what was written to stdout and stderr with its length before it.
 */
public class CommandLoop {
    static final class Ended extends RuntimeException {
        final int code;

        Ended(int code) {
            super("ended with " + code);
            this.code = code;
        }
    }

    public static void main(String[] given) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out));
        Exit.setExitProcedure(new Exit.Procedure() {
            public void execute(int code, String message) {
                throw new Ended(code);
            }
        });
        while (true) {
            String[] words = new String[in.readInt()];
            for (int i = 0; i < words.length; i++) {
                byte[] word = new byte[in.readInt()];
                in.readFully(word);
                words[i] = new String(word, "UTF-8");
            }
            ByteArrayOutputStream written = new ByteArrayOutputStream();
            PrintStream stream = new PrintStream(written, true, "UTF-8");
            System.setOut(stream);
            System.setErr(stream);
            int code = run(words, stream);
            stream.flush();
            out.writeInt(code);
            out.writeInt(written.size());
            written.writeTo(out);
            out.flush();
        }
    }

    private static int run(String[] words, PrintStream stream) {
        String[] arguments = new String[words.length - 1];
        System.arraycopy(words, 1, arguments, 0, arguments.length);
        try {
            Class tool = Class.forName(words[0]);
            tool.getMethod("main", new Class[] {String[].class})
                .invoke(null, new Object[] {arguments});
            return 0;
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Ended) {
                return ((Ended) e.getCause()).code;
            }
            e.getCause().printStackTrace(stream);
            return 1;
        } catch (Exception e) {
            e.printStackTrace(stream);
            return 1;
        }
    }
}
